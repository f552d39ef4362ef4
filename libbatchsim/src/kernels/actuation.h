// Actuators on joints: force = gain (fixed or affine) times control, plus affine bias, within forcerange; then the joint's own range.
//
//   in     qpos qvel ctrl
//   out    actuator_length actuator_velocity actuator_force qfrc_actuator
//   warns  BADCTRL: a non-finite or huge control counts as zero, with all others of that world, in this step
//   source engine_forward.c mj_fwdActuation, engine_core_smooth.c mj_transmission
#pragma once

#include "kernels/status.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
BS_FN void transmission(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;
  for (int i : t.range(0, m.nu)) {
    const int j = m.actuator_jntid[i];
    d.actuator_length[i] = Real(m.actuator_gear[i]) * Real(d.qpos[m.jnt_qposadr[j]]);
    d.actuator_velocity[i] = Real(m.actuator_gear[i]) * Real(d.qvel[m.jnt_dofadr[j]]);
  }
}

template <class B>
BS_FN typename B::Real clamped_ctrl(const ModelView<B>& m, const StateView<B>& d, int i) {
  using Real = typename B::Real;
  Real u = d.ctrl[i];
  if (!(m.disableflags & kDisableClampctrl) && m.actuator_ctrllimited[i])
    u = clip(u, Real(m.actuator_ctrlrange[2 * i]), Real(m.actuator_ctrlrange[2 * i + 1]));
  return u;
}

template <class B>
BS_FN void actuation(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;
  if (m.nu == 0 || (m.disableflags & kDisableActuation)) {
    for (int i : t.range(0, m.nu)) d.actuator_force[i] = 0;
    for (int k : t.range(0, m.nv)) d.qfrc_actuator[k] = 0;
    return;
  }

  const typename B::Mask bad = t.any_lane(0, m.nu, [&](int i) { return is_bad(clamped_ctrl(m, d, i)); });
  raise(t, d, kBadControl, bad);

  for (int i : t.range(0, m.nu)) {
    Real f = 0;
    if (!m.actuator_disabled[i]) {
      const Real u = select(bad, Real(0), clamped_ctrl(m, d, i));
      const Real length = d.actuator_length[i], velocity = d.actuator_velocity[i];
      Real gain = m.actuator_gainprm[3 * i];
      if (m.actuator_gaintype[i] == kGainAffine)
        gain = gain + Real(m.actuator_gainprm[3 * i + 1]) * length + Real(m.actuator_gainprm[3 * i + 2]) * velocity;
      f = gain * u;
      if (m.actuator_biastype[i] == kBiasAffine)
        f = f + (Real(m.actuator_biasprm[3 * i]) + Real(m.actuator_biasprm[3 * i + 1]) * length +
                 Real(m.actuator_biasprm[3 * i + 2]) * velocity);
    }
    if (m.actuator_forcelimited[i]) f = clip(f, Real(m.actuator_forcerange[2 * i]), Real(m.actuator_forcerange[2 * i + 1]));
    d.actuator_force[i] = f;
  }
  t.sync();

  for (int k : t.range(0, m.nv)) {
    const int j = m.dof_jntid[k];
    Real f = 0;
    for (int a = m.dof_actadr[k]; a < m.dof_actadr[k + 1]; a++) {
      const int i = m.dof_actid[a];
      f = f + Real(m.actuator_gear[i]) * Real(d.actuator_force[i]);
    }
    if (m.jnt_actfrclimited[j]) f = clip(f, Real(m.jnt_actfrcrange[2 * j]), Real(m.jnt_actfrcrange[2 * j + 1]));
    d.qfrc_actuator[k] = f;
  }
}

// d qfrc_actuator / d qvel on the diagonal: an actuator on one joint touches that entry alone. Saturated actuators and joints do not
// count (engine_derivative.c mjd_actuator_vel, with the joint's range as of 4.0).
template <class B>
BS_FN typename B::Real actuator_damping(const ModelView<B>& m, const StateView<B>& d, int k) {
  using Real = typename B::Real;
  Real sum = 0, total = 0;
  if (m.disableflags & kDisableActuation) return sum;
  for (int a = m.dof_actadr[k]; a < m.dof_actadr[k + 1]; a++) {
    const int i = m.dof_actid[a];
    const Real gear = m.actuator_gear[i], f = d.actuator_force[i];
    total = total + gear * f;
    if (m.actuator_disabled[i]) continue;
    Real slope = 0;
    if (m.actuator_biastype[i] == kBiasAffine) slope = m.actuator_biasprm[3 * i + 2];
    if (m.actuator_gaintype[i] == kGainAffine) slope = slope + Real(m.actuator_gainprm[3 * i + 2]) * Real(d.ctrl[i]);
    if (m.actuator_forcelimited[i]) {
      const auto inside = (f > Real(m.actuator_forcerange[2 * i])) & (f < Real(m.actuator_forcerange[2 * i + 1]));
      slope = select(inside, slope, Real(0));
    }
    sum = sum + gear * gear * slope;
  }
  const int j = m.dof_jntid[k];
  if (m.jnt_actfrclimited[j]) {
    const auto inside = (total > Real(m.jnt_actfrcrange[2 * j])) & (total < Real(m.jnt_actfrcrange[2 * j + 1]));
    sum = select(inside, sum, Real(0));
  }
  return sum;
}

}  // namespace BS_ISA
}  // namespace batchsim
