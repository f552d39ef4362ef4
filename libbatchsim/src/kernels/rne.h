// Recursive Newton-Euler with zero joint acceleration: Coriolis, centrifugal and gravity forces.
//
//   cacc = cacc(parent) + sum over DoFs of cdof_dot qvel;  cfrc = I cacc + cvel x* (I cvel);  qfrc_bias = cdof . sum of cfrc below
//
//   in     cinert cdof cdof_dot cvel qvel
//   out    qfrc_bias;  scratch cacc cfrc
//   after  com_vel
//   source engine_core_smooth.c mj_rne; Featherstone, sec. 5.3
#pragma once

#include "math/spatial.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// f(i) = f(i) + sum of f over the subtree of i, for every body but the world; a barrier a level
template <class B>
BS_FN void sum_subtrees(Team<B> t, const ModelView<B>& m, typename B::RealRow f) {
  using Real = typename B::Real;
  for (int level = m.nbodylevel - 2; level > 0; level--) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) {
      const int i = m.body_order[q];
      Spatial<Real> sum = load6<Real>(f, 6 * i);
      for (int c = m.body_childadr[i]; c < m.body_childadr[i + 1]; c++) sum = sum + load6<Real>(f, 6 * m.body_child[c]);
      store(f, 6 * i, sum);
    }
    t.sync();
  }
}

template <class B>
BS_FN void rne(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  // the world accelerates against gravity
  if (auto lead = t.leader()) {
    const bool gravity = !(m.disableflags & kDisableGravity);
    const Vec3<Real> g = gravity ? load3<Real>(m.gravity, 0) : Vec3<Real>{0, 0, 0};
    store(d.cacc, 0, Spatial<Real>{{0, 0, 0}, -g});
  }
  t.sync();

  for (int level = 1; level < m.nbodylevel; level++) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) {
      const int i = m.body_order[q], dof = m.body_dofadr[i];
      Spatial<Real> a = load6<Real>(d.cacc, 6 * m.body_parentid[i]);
      for (int k = dof; k < dof + m.body_dofnum[i]; k++) a = a + load6<Real>(d.cdof_dot, 6 * k) * Real(d.qvel[k]);
      store(d.cacc, 6 * i, a);
      const Inertia<Real> I = load10<Real>(d.cinert, 10 * i);
      const Spatial<Real> v = load6<Real>(d.cvel, 6 * i);
      store(d.cfrc, 6 * i, I * a + cross_force(v, I * v));
    }
    t.sync();
  }
  sum_subtrees(t, m, d.cfrc);
  for (int k : t.range(0, m.nv)) d.qfrc_bias[k] = dot(load6<Real>(d.cdof, 6 * k), load6<Real>(d.cfrc, 6 * m.dof_bodyid[k]));
}

}  // namespace BS_ISA
}  // namespace batchsim
