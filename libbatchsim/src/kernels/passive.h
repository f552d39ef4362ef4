// Passive forces: springs of hinges, damping of DoFs.
//
//   in     qpos qvel
//   out    qfrc_spring  = -k (q - q_spring)
//          qfrc_damper  = -b v
//          qfrc_passive = their sum
//   source engine_passive.c mj_springdamper, mj_passive
#pragma once

#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
BS_FN void passive(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;
  const bool spring = !(m.disableflags & kDisableSpring), damper = !(m.disableflags & kDisableDamper);
  for (int k : t.range(0, m.nv)) {
    const int j = m.dof_jntid[k];
    Real fs = 0, fd = 0;
    if (spring && m.jnt_stiffness[j] != 0 && m.jnt_type[j] == kJointHinge) {
      const int q = m.jnt_qposadr[j];
      fs = Real(m.jnt_stiffness[j]) * (Real(m.qpos_spring[q]) - Real(d.qpos[q]));
    }
    if (damper && m.dof_damping[k] != 0) fd = -Real(m.dof_damping[k]) * Real(d.qvel[k]);
    d.qfrc_spring[k] = fs;
    d.qfrc_damper[k] = fd;
    d.qfrc_passive[k] = fs + fd;
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
