// Velocities about the centre of mass of each tree, and the rate of change of the motion axes.
//
//   in     cdof qvel
//   out    cvel      rotation, translation of each body
//          cdof_dot  = cvel x cdof
//   after  com_pos
//   source engine_core_smooth.c mj_comVel
#pragma once

#include "math/spatial.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
BS_FN void com_vel(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  if (auto lead = t.leader()) store(d.cvel, 0, Spatial<Real>{{0, 0, 0}, {0, 0, 0}});
  t.sync();

  for (int level = 1; level < m.nbodylevel; level++) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) {
      const int i = m.body_order[q], dof = m.body_dofadr[i], n = m.body_dofnum[i];
      Spatial<Real> v = load6<Real>(d.cvel, 6 * m.body_parentid[i]);
      if (n == 6 && m.jnt_type[m.dof_jntid[dof]] == kJointFree) {
        // translations along the world's axes do not turn; all rotations see the same velocity
        for (int k = dof; k < dof + 3; k++) {
          store(d.cdof_dot, 6 * k, Spatial<Real>{{0, 0, 0}, {0, 0, 0}});
          v = v + load6<Real>(d.cdof, 6 * k) * Real(d.qvel[k]);
        }
        for (int k = dof + 3; k < dof + 6; k++) store(d.cdof_dot, 6 * k, cross_motion(v, load6<Real>(d.cdof, 6 * k)));
        for (int k = dof + 3; k < dof + 6; k++) v = v + load6<Real>(d.cdof, 6 * k) * Real(d.qvel[k]);
      } else {
        for (int k = dof; k < dof + n; k++) {
          const Spatial<Real> axis = load6<Real>(d.cdof, 6 * k);
          store(d.cdof_dot, 6 * k, cross_motion(v, axis));
          v = v + axis * Real(d.qvel[k]);
        }
      }
      store(d.cvel, 6 * i, v);
    }
    t.sync();
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
