// An impulse on a body: qvel += M^-1 J' p.
//
//   in     qpos, kick_force (N s), kick_point
//   out    qvel
#pragma once

#include "kernels/com_pos.h"
#include "kernels/crb.h"
#include "kernels/kinematics.h"
#include "kernels/smooth_acc.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
BS_FN void kick(Team<B> t, const ModelView<B>& m, StateView<B> d, int body) {
  using Real = typename B::Real;
  kinematics(t, m, d);
  com_pos(t, m, d);
  crb(t, m, d);
  factor_m(t, m, d);

  const Vec3<Real> com = load3<Real>(d.subtree_com, 3 * m.body_rootid[body]), p = load3<Real>(d.kick_force, 0);
  const Vec3<Real> at = load3<Real>(d.xipos, 3 * body) - com + load9<Real>(d.xmat, 9 * body) * load3<Real>(d.kick_point, 0);
  const Spatial<Real> wrench{cross(at, p), p};
  for (int k : t.range(0, m.nv)) d.qtmp[k] = 0;
  t.sync();
  // the DoFs that move the body: its deepest one and that one's ancestors
  const int last = m.body_lastdof[body];
  if (last >= 0) {
    for (int a : t.range(m.M_coladr[last], m.M_coladr[last] + m.dof_depth[last] + 1)) {
      const int k = m.M_colind[a];
      d.qtmp[k] = dot(load6<Real>(d.cdof, 6 * k), wrench);
    }
  }
  solve_tree(t, m, d, d.qLD, d.qtmp);
  for (int k : t.range(0, m.nv)) d.qvel[k] = Real(d.qvel[k]) + Real(d.qtmp[k]);
}

}  // namespace BS_ISA
}  // namespace batchsim
