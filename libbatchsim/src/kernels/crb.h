// Composite rigid bodies: the joint-space inertia M(i, j) = cdof_j . (crb_i cdof_i), plus armature on the diagonal.
//
//   in     cinert cdof
//   out    crb   composite inertia of each subtree
//          M     in panels (kernels/panel.h)
//   scratch cfrc
//   after  com_pos
//   source engine_core_smooth.c mj_crb; Featherstone, Rigid Body Dynamics Algorithms, sec. 6.2
#pragma once

#include "kernels/panel.h"
#include "math/spatial.h"

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

  // momentum of the subtree as DoF i turns
  for (int i : t.range(0, m.nv)) store(d.cfrc, 6 * i, load10<Real>(d.crb, 10 * m.dof_bodyid[i]) * load6<Real>(d.cdof, 6 * i));
  t.sync();

  // a column of a panel: its DoF against the segment's
  for (int c : t.range(0, m.ncol)) {
    const int s = m.col_seg[c], first = m.seg_dof[s], j = m.M_colind[c];
    const int last = j < 0 ? first - 1 : first + m.seg_size[s] - 1;
    const Spatial<Real> axis = load6<Real>(d.cdof, 6 * max_int(j, 0));
    Quad<Real> q;
    for (int p = 0; p < kQuad; p++) {
      const int i = first + p;
      q.v[p] = i <= last && i >= j ? dot(axis, load6<Real>(d.cfrc, 6 * i)) : Real(0);
      if (i == j) q.v[p] = q.v[p] + Real(m.dof_armature[i]);
    }
    store_quad<B>(d.M, c, q);
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
