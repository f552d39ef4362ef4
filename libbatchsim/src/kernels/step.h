// forward and step: the stages in the order data flows.
//
// A stage ends with a barrier only where another member reads its outputs before the next barrier anyway: `./dev mutate` finds
// superfluous ones, and the checking backend those that a new order of the stages would need.
#pragma once

#include "kernels/actuation.h"
#include "kernels/collision.h"
#include "kernels/com_pos.h"
#include "kernels/com_vel.h"
#include "kernels/crb.h"
#include "kernels/factor_m.h"
#include "kernels/integrate.h"
#include "kernels/kinematics.h"
#include "kernels/make_constraint.h"
#include "kernels/passive.h"
#include "kernels/rne.h"
#include "kernels/sensor.h"
#include "kernels/smooth_acc.h"
#include "kernels/solver.h"

namespace batchsim {
inline namespace BS_ISA {

// where everything is, and the motion axes there
template <class B>
BS_FN void positions(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  kinematics(t, m, d);
  com_pos(t, m, d);
}

// everything that follows from the state (mj_forward)
template <class B>
BS_FN void forward(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  // position
  positions(t, m, d);
  crb(t, m, d);
  factor_m(t, m, d);
  collision(t, m, d);
  transmission(t, m, d);
  // velocity
  com_vel(t, m, d);
  passive(t, m, d);
  rne(t, m, d);
  make_constraint(t, m, d);
  // acceleration
  actuation(t, m, d);
  smooth_acc(t, m, d);
  solver(t, m, d);
  sensor(t, m, d);
}

// the lanes whose state is to be kept as it is: bad, with autoreset disabled
template <class B>
BS_FN typename B::Mask frozen(const ModelView<B>& m, const StateView<B>& d) {
  unsigned bits = 0;
  if (m.disableflags & kDisableAutoreset)
    for (int l = 0; l < B::width; l++) bits |= (d.status(0, l) & kBadState ? 1u : 0u) << l;
  return B::from_bits(bits);
}

// bring the lanes in mask to the model's initial state, applied forces and controls to zero (mj_resetData)
template <class B>
BS_FN void reset_lanes(Team<B> t, const ModelView<B>& m, StateView<B> d, typename B::Mask mask) {
  using Real = typename B::Real;
  for (int i : t.range(0, m.nq)) d.qpos[i] = select(mask, Real(m.qpos0[i]), Real(d.qpos[i]));
  for (int k : t.range(0, m.nv)) {
    d.qvel[k] = select(mask, Real(0), Real(d.qvel[k]));
    d.qacc_warmstart[k] = select(mask, Real(0), Real(d.qacc_warmstart[k]));
    d.qfrc_applied[k] = select(mask, Real(0), Real(d.qfrc_applied[k]));
  }
  for (int i : t.range(0, m.nu)) d.ctrl[i] = select(mask, Real(0), Real(d.ctrl[i]));
  for (int i : t.range(0, m.na)) d.act[i] = select(mask, Real(0), Real(d.act[i]));
  for (int i : t.range(0, 6 * m.nbody)) d.xfrc_applied[i] = select(mask, Real(0), Real(d.xfrc_applied[i]));
  if (auto lead = t.leader()) {
    d.time[0] = select(mask, Real(0), Real(d.time[0]));
    d.time_carry[0] = select(mask, Real(0), Real(d.time_carry[0]));
    for (int l : lanes(mask)) d.push_left(0, l) = 0, d.was_reset(0, l) = 1;
  }
}

// a count that stays at its largest value
BS_FN int add_saturated(int a, int b) { return a > 2147483647 - b ? 2147483647 : a + b; }

// what a bad state leads to, as in MuJoCo: flagged and counted; with autoreset the world starts anew, without it freezes
template <class B>
BS_FN void handle_bad(Team<B> t, const ModelView<B>& m, StateView<B> d, typename B::Mask bad) {
  raise(t, d, kBadState, bad);
  if (auto lead = t.leader())
    for (int l : lanes(bad)) d.bad_states(0, l) = add_saturated(d.bad_states(0, l), 1);
  if (!(m.disableflags & kDisableAutoreset)) reset_lanes(t, m, d, bad);
}

// high-water marks and counts of what did not fit
template <class B>
BS_FN void account(Team<B> t, StateView<B> d) {
  if (auto lead = t.leader()) {
    for (int l = 0; l < B::width; l++) {
      const int con = d.ncon_need(0, l), row = d.nefc_need(0, l);
      d.ncon_peak(0, l) = max_int(d.ncon_peak(0, l), con);
      d.nefc_peak(0, l) = max_int(d.nefc_peak(0, l), row);
      d.contacts_dropped(0, l) = add_saturated(d.contacts_dropped(0, l), max_int(con - d.nconmax, 0));
      d.rows_dropped(0, l) = add_saturated(d.rows_dropped(0, l), max_int(row - d.njmax, 0));
    }
  }
}

// one timestep (mj_step); without `move`, up to where the state would move (mj_forward). One text for both: a GPU's compiler expands all
// of forward where it is called
template <class B>
BS_FN void step(Team<B> t, const ModelView<B>& m, StateView<B> d, bool move) {
  using Real = typename B::Real;
  const auto bad_state = t.any_lane(0, m.nq, [&](int i) { return is_bad(Real(d.qpos[i])); }) |
                         t.any_lane(0, m.nv, [&](int i) { return is_bad(Real(d.qvel[i])); });
  const typename B::Mask bad = typename B::Mask(bad_state) & !frozen(m, d);
  if (move && any(bad)) handle_bad(t, m, d, bad);

  // a world that diverged starts anew and is computed again; the others of its tile get the same bits again. One that diverges from its
  // initial state, too, stays there
  typename B::Mask diverged(false);
  for (bool first = true;; first = false) {
    forward(t, m, d);
    const auto bad_acc = t.any_lane(0, m.nv, [&](int i) { return is_bad(Real(d.qacc[i])); });
    diverged = typename B::Mask(bad_acc) & !frozen(m, d);
    if (!first) break;
    account(t, d);
    if (!move) return;
    if (!any(diverged)) break;
    handle_bad(t, m, d, diverged);
  }
  integrate(t, m, d, !(frozen(m, d) | diverged));
}

}  // namespace BS_ISA
}  // namespace batchsim
