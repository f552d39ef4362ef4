// Composite rigid bodies: the joint-space inertia M(i, j) = cdof_j . (crb_i cdof_i), plus armature on the diagonal.
//
//   in     cinert cdof
//   out    crb   composite inertia of each subtree
//          M     rows of ancestors: entry (i, j) at M_rowadr[i] + dof_depth[j]
//   after  com_pos
//   source engine_core_smooth.c mj_crb; Featherstone, Rigid Body Dynamics Algorithms, sec. 6.2
#pragma once

#include "math/spatial.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
BS_FN void crb(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  for (int a : t.range(0, 10 * m.nbody)) d.crb[a] = Real(d.cinert[a]);
  t.sync();

  // from the leaves to the root; the world's stays nil, as MuJoCo leaves it
  for (int level = m.nbodylevel - 2; level > 0; level--) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) {
      const int i = m.body_order[q];
      for (int c = m.body_childadr[i]; c < m.body_childadr[i + 1]; c++) {
        const int child = m.body_child[c];
        for (int k = 0; k < 10; k++) d.crb[10 * i + k] = Real(d.crb[10 * i + k]) + Real(d.crb[10 * child + k]);
      }
    }
    t.sync();
  }

  for (int i : t.range(0, m.nv)) {
    const Spatial<Real> f = load10<Real>(d.crb, 10 * m.dof_bodyid[i]) * load6<Real>(d.cdof, 6 * i);
    const int row = m.M_rowadr[i], n = m.dof_depth[i];
    for (int a = 0; a < n; a++) d.M[row + a] = dot(load6<Real>(d.cdof, 6 * m.M_colind[row + a]), f);
    d.M[row + n] = dot(load6<Real>(d.cdof, 6 * i), f) + Real(m.dof_armature[i]);
  }
  t.sync();
}

}  // namespace BS_ISA
}  // namespace batchsim
