// The environment's stages. All are masks and counters of each world: no step needs a decision of the host.
//
//   control step = look_up, act | physics | judge, observe (of what ran out of time) | reset, restart | forward | observe
#pragma once

#include "env/fields.h"
#include "env/random.h"
#include "env/rows.h"
#include "task.h"

namespace stance {
inline namespace BS_ISA {

using batchsim::Team;

BS_FN double amplitude(int level) { return level / (task::levels - 1); }

// target: the reference at a world's level and phase, all eight tables at once; columns begin ... end - 1 of them
template <class B, class T>
BS_FN void look_up(Team<B> t, const EnvView<T>& e, int world, int begin, int end) {
  const T x = e.phase[world] * T(task::phases);
  const int i = static_cast<int>(x) % int(task::phases), next = (i + 1) % int(task::phases);
  const T u = x - T(static_cast<int>(x));
  const T* level = e.table + size_t(e.level[world]) * int(task::phases) * e.width;
  const T *a = level + size_t(i) * e.width, *b = level + size_t(next) * e.width;
  T* to = e.target + size_t(world) * e.width;
  for (int c : t.range(begin, end)) to[c] = a[c] * (1 - u) + b[c] * u;
}

// the phase moves on by one control step
template <class T>
BS_FN T next_phase(T phase) {
  const T p = phase + T(task::control_step / task::period);
  return p >= T(1) ? p - T(1) : p;
}

// servo targets, and the shove that is on; last_action is what judge() compares the next action with
//   in   target, action (nworld, nact)     out  ctrl, xfrc, countdown, shove
template <class B, class T>
BS_FN void act(Team<B> t, const EnvView<T>& e, Tile<B> w, const T* action) {
  using Real = typename B::Real;
  const auto live = w.live();
  for (int i : t.range(0, e.nj)) {
    Real q = w.get(e.target, e.width, i);
    const int k = e.policy_of[i];
    if (k >= 0 && action) q += clip(w.get(action, e.nact, k), Real(-task::action_clip), Real(task::action_clip)) * Real(e.scale[k]);
    w.set(e.ctrl.data, e.ctrl.stride, e.actuator[i], clip(q, Real(e.lower[i]), Real(e.upper[i])), live);
  }
  if (auto lead = t.leader()) {
    for (int l : batchsim::lanes(live)) {
      const int world = w.first + l;
      int& countdown = e.countdown[world];
      T* force = e.shove + 2 * world;
      const Stream random{e.now->seed, e.now->step, uint32_t(world)};
      countdown -= 1;
      if (countdown == 0) {
        const Words draw = random.words(Purpose::kShove, 0);
        const T share = T(task::shove_base) + T(1 - task::shove_base) * T(amplitude(e.level[world]));
        const T size = e.shove_force * share * (T(task::shove_least) + T(1 - task::shove_least) * uniform<T>(draw.v[0]));
        const batchsim::SinCos<T> angle = batchsim::sincos(uniform<T>(draw.v[1]) * T(6.28318530717958647693));
        force[0] = size * angle.cos, force[1] = size * angle.sin;
      }
      const bool on = countdown <= 0 && countdown > -int(task::shove_steps);
      T* applied = row(e.xfrc, world) + 6 * e.thorax;
      applied[0] = on ? force[0] : T(0), applied[1] = on ? force[1] : T(0);
      if (countdown <= -int(task::shove_steps))
        countdown = uniform_int(random.words(Purpose::kPause, 0).v[0], int(task::shove_pause_min), int(task::shove_pause_max));
    }
  }
}

// where a tile's bodies are, as observation and reward see it
template <class B>
struct Posture {
  using Real = typename B::Real;
  Real cos_h, sin_h;     // heading of the pelvis
  Real up[3];            // world up in the pelvis frame
  Real thorax_up;        // upward component of the thorax's axis
  Real balance[2];       // centre of mass minus the middle of the soles, heading frame
  Real com_velocity[2];  // heading frame

  BS_FN void turn(Real x, Real y, Real* out) const { out[0] = cos_h * x + sin_h * y, out[1] = cos_h * y - sin_h * x; }
};

template <class B, class T>
BS_FN Posture<B> posture(const EnvView<T>& e, Tile<B> w, const typename B::Real* com, const typename B::Real* com_velocity) {
  using Real = typename B::Real;
  Posture<B> p;
  const Real fx = w.get(e.xmat, 9 * e.pelvis), fy = w.get(e.xmat, 9 * e.pelvis + 3);
  const Real length = sqrt(fx * fx + fy * fy);
  const auto upright = length > Real(1e-6);  // an axis that points straight up has no heading: 0 then
  p.cos_h = select(upright, fx / length, Real(1));
  p.sin_h = select(upright, fy / length, Real(0));
  for (int k = 0; k < 3; k++) p.up[k] = w.get(e.xmat, 9 * e.pelvis + 6 + k);
  p.thorax_up = w.get(e.xmat, 9 * e.thorax + 8);
  Real middle[2];
  for (int k = 0; k < 2; k++) middle[k] = Real(0.5) * (w.get(e.site, 3 * e.foot[0] + k) + w.get(e.site, 3 * e.foot[1] + k));
  p.turn(com[0] - middle[0], com[1] - middle[1], p.balance);
  p.turn(com_velocity[0], com_velocity[1], p.com_velocity);
  return p;
}

// columns of the tables in `target`
struct Columns {
  int q, qd, position, quaternion, velocity, spin, soles, balance;
  BS_FN explicit Columns(int nj)
      : q(0),
        qd(nj),
        position(2 * nj),
        quaternion(2 * nj + 3),
        velocity(2 * nj + 7),
        spin(2 * nj + 10),
        soles(2 * nj + 13),
        balance(2 * nj + 19) {}
};

// after the physics: reward, falls, episodes that ran out of time, and what is counted
//   in   the batch's state, action        out  out.reward, out.done, last_action, com, com_velocity, clock, sums and counts
template <class B, class T>
BS_FN void judge(Team<B> t, const EnvView<T>& e, Tile<B> w, const T* action, const StepOut<T>& out) {
  using Real = typename B::Real;
  const Columns at(e.nj);
  const auto ref = [&](int c) { return w.get(e.target, e.width, c); };
  const auto square = [](Real x) { return x * x; };

  Real com[2], com_velocity[2];
  for (int k = 0; k < 2; k++) {
    com[k] = w.get(e.subtree_com, k);
    com_velocity[k] = (com[k] - w.get(e.com, 2, k)) * Real(1 / task::control_step);
  }
  const Posture<B> p = posture(e, w, com, com_velocity);

  // extrapolated centre of mass
  Real wanted_velocity[2], balance2 = 0;
  p.turn(ref(at.velocity), ref(at.velocity + 1), wanted_velocity);
  for (int k = 0; k < 2; k++)
    balance2 += square(p.balance[k] - ref(at.balance + k) + Real(task::fall_time) * (p.com_velocity[k] - wanted_velocity[k]));

  const Real pose2 = t.sum(0, e.nj, [&](int i) { return Real(e.weight[i]) * square(w.get(e.qpos, 7 + i) - ref(at.q + i)); });
  const Real speed2 = t.sum(0, e.nj, [&](int i) { return Real(e.weight[i]) * square(w.get(e.qvel, 6 + i) - ref(at.qd + i)); });

  const Real z = w.get(e.qpos, 2), dz = z - ref(at.position + 2);
  Real drift2 = 0, velocity2 = 0;
  for (int k = 0; k < 2; k++) drift2 += square(w.get(e.qpos, k) - ref(at.position + k));
  for (int k = 0; k < 3; k++) velocity2 += square(w.get(e.qvel, k) - ref(at.velocity + k));

  // the angle between two unit quaternions: |a - b| = 2 sin(angle / 4); the interpolated one is made a unit
  Real quat[4], length2 = 0, dot = 0, minus2 = 0, plus2 = 0;
  for (int k = 0; k < 4; k++) quat[k] = ref(at.quaternion + k), length2 += square(quat[k]);
  const Real inverse = Real(1) / sqrt(length2);
  for (int k = 0; k < 4; k++) {
    const Real a = w.get(e.qpos, 3 + k), b = quat[k] * inverse;
    dot += a * b, minus2 += square(a - b), plus2 += square(a + b);
  }
  const Real angle = Real(4) * asin_positive(Real(0.5) * sqrt(min(minus2, plus2)));

  Real soles2 = 0;
  for (int side = 0; side < 2; side++) {
    Real r[3], flat[2];
    for (int k = 0; k < 3; k++) r[k] = w.get(e.site, 3 * e.foot[side] + k) - w.get(e.qpos, k);
    p.turn(r[0], r[1], flat);
    soles2 += Real(0.5) * (square(flat[0] - ref(at.soles + 3 * side)) + square(flat[1] - ref(at.soles + 3 * side + 1)) +
                           square(r[2] - ref(at.soles + 3 * side + 2)));
  }

  const Real share = Real(1.0 / e.nact);
  const auto clipped = [&](int k) {
    return action ? clip(w.get(action, e.nact, k), Real(-task::action_clip), Real(task::action_clip)) : Real(0);
  };
  const Real action2 = t.sum(0, e.nact, [&](int k) { return share * square(clipped(k)); });
  const Real change2 = t.sum(0, e.nact, [&](int k) { return share * square(clipped(k) - w.get(e.last_action, e.nact, k)); });

  const auto near = [](Real x2, double width) { return exp(-x2 * Real(1 / (width * width))); };
  Real reward = Real(task::weight_balance) * near(balance2, task::width_balance) +
                Real(task::weight_pose) * exp(Real(-task::sharpness_pose) * pose2) +
                Real(task::weight_velocity) * exp(Real(-task::sharpness_velocity) * speed2) +
                Real(task::weight_height) * near(square(dz), task::width_height) +
                Real(task::weight_orientation) * near(square(angle), task::width_orientation) +
                Real(task::weight_soles) * near(soles2, task::width_soles) +
                Real(task::weight_drift) * near(drift2, task::width_drift) +
                Real(task::weight_pelvis_velocity) * near(velocity2, task::width_pelvis_velocity) +
                Real(task::weight_action) * action2 + Real(task::weight_action_change) * change2;

  // written so that a NaN counts as a fall; a bad state was reset by the batch, its bit tells
  const auto broken = t.any_lane(0, e.qpos.size, [&](int i) { return !(abs(w.get(e.qpos, i)) < Real(1e10)); });
  const auto stands = (z >= Real(task::fall_height)) & (p.up[2] >= Real(task::fall_up)) & (p.thorax_up >= Real(task::fall_up));
  const auto fall =
      (!stands) | broken | w.where([&](int world) { return (row(e.batch_status, world)[0] & batchsim::kBadState) != 0; });
  const auto live = w.live();
  reward = select(fall, Real(0), reward);

  t.sync();
  for (int k : t.range(0, e.nact)) w.set(e.last_action, e.nact, k, clipped(k), live);
  if (auto lead = t.leader()) {
    const Real given = select(fall, Real(task::fall_reward), reward * Real(task::reward_scale));
    w.set(out.reward, 1, 0, given, live);
    w.set(e.return_so_far, 1, 0, w.get(e.return_so_far, 1, 0) + given, live);
    for (int k = 0; k < 2; k++) w.set(e.com, 2, k, com[k], live), w.set(e.com_velocity, 2, k, com_velocity[k], live);
    const auto counts = [&](int world) { return !e.first_only || !e.episode[world]; };
    const auto counted = w.where(counts) & !fall;
    const auto add = [&](T* sum, Real x) { w.set(sum, 1, 0, w.get(sum, 1, 0) + x, counted); };
    add(e.sum_reward, reward), add(e.sum_balance, balance2), add(e.sum_pose, pose2);
    add(e.sum_height, square(dz)), add(e.sum_tilt, square(angle)), add(e.sum_soles, soles2);
    for (int l : batchsim::lanes(live)) {
      const int world = w.first + l;
      const bool fell = batchsim::bits(fall) >> l & 1;
      const int status = row(e.batch_status, world)[0], clock = ++e.clock[world];
      const bool ended = clock >= int(task::episode_steps) && !fell, current = e.level[world] == e.now->level;
      out.done[world] = fell || ended;
      if (ended) out.truncated_at[world] = out.index;
      if (!counts(world)) continue;
      e.count_steps[world] += !fell;
      e.count_falls[world] += fell, e.count_truncations[world] += ended;
      if (fell || ended) e.count_length[world] += clock, e.sum_episode_return[world] += e.return_so_far[world];
      if (current && (fell || ended)) {
        e.count_level_falls[world] += fell, e.count_level_truncations[world] += ended;
        e.count_level_length[world] += clock;
      }
      e.count_bad_states[world] += (status & batchsim::kBadState) != 0;
      e.count_status[world] |= status;
      e.count_ncon_peak[world] = batchsim::max_int(e.count_ncon_peak[world], row(e.batch_ncon, world)[0]);
      e.count_nefc_peak[world] = batchsim::max_int(e.count_nefc_peak[world], row(e.batch_nefc, world)[0]);
    }
  }
}

// a new episode of one world, after the batch has reset it: pose and velocity of the reference at a random phase, and noise
template <class B, class T>
BS_FN void restart(Team<B> t, const EnvView<T>& e, int world) {
  const Stream random{e.now->seed, e.now->step, uint32_t(world)};
  const Words start = random.words(Purpose::kStart, 0);
  t.sync();
  if (auto lead = t.leader()) {
    e.level[world] = e.now->level;
    e.phase[world] = uniform<T>(start.v[0]);
    e.clock[world] = 0;
    e.episode[world] += 1;
    e.countdown[world] = uniform_int(start.v[1], int(task::shove_first_min), int(task::shove_first_max));
    e.shove[2 * world] = e.shove[2 * world + 1] = e.return_so_far[world] = 0;
  }
  t.sync();
  look_up(t, e, world, 0, e.width);
  t.sync();
  const Columns at(e.nj);
  const T* ref = e.target + size_t(world) * e.width;
  T *qpos = row(e.qpos, world), *qvel = row(e.qvel, world), *ctrl = row(e.ctrl, world);
  T length2 = 0;
  for (int k = 0; k < 4; k++) length2 += ref[at.quaternion + k] * ref[at.quaternion + k];
  for (int i : t.range(0, 7))
    qpos[i] = i == 2  ? ref[at.position + 2] + T(task::reset_height)
              : i < 3 ? ref[at.position + i]
                      : ref[at.quaternion + i - 3] / batchsim::sqrt(length2);
  for (int i : t.range(0, 6))
    qvel[i] = ref[at.velocity + i] + T(task::reset_velocity) * normals<T>(random.words(Purpose::kVelocity, i)).v[0];
  for (int i : t.range(0, e.nj)) {
    const T angle = ref[at.q + i] + T(task::reset_angle) * normals<T>(random.words(Purpose::kPose, i)).v[0];
    qpos[7 + i] = batchsim::clip(angle, e.lower[i], e.upper[i]);
    qvel[6 + i] = ref[at.qd + i] + T(task::reset_velocity) * normals<T>(random.words(Purpose::kVelocity, 6 + i)).v[0];
    ctrl[e.actuator[i]] = ref[at.q + i];
  }
  for (int k : t.range(0, e.nact)) e.last_action[size_t(world) * e.nact + k] = 0;
}

// the first velocity of the centre of mass of an episode is the pelvis's
template <class B, class T>
BS_FN void settle(Team<B> t, const EnvView<T>& e, int world) {
  for (int k : t.range(0, 2)) {
    e.com[2 * world + k] = row(e.subtree_com, world)[k];
    e.com_velocity[2 * world + k] = row(e.qvel, world)[k];
  }
}

// observation (nworld, nobs) of the worlds in mask
template <class B, class T>
BS_FN void observe(Team<B> t, const EnvView<T>& e, Tile<B> w, T* observation, typename B::Mask mask) {
  using Real = typename B::Real;
  const Columns at(e.nj);
  const auto ref = [&](int c) { return w.get(e.target, e.width, c); };
  const auto put = [&](int i, Real x) { w.set(observation, e.nobs, i, x, mask); };

  if (auto lead = t.leader()) {
    Real com[2], com_velocity[2];
    for (int k = 0; k < 2; k++) com[k] = w.get(e.com, 2, k), com_velocity[k] = w.get(e.com_velocity, 2, k);
    const Posture<B> p = posture(e, w, com, com_velocity);
    for (int k = 0; k < 2; k++) {
      put(k, clip(p.balance[k] - ref(at.balance + k), Real(-0.5), Real(0.5)) * Real(5));
      put(2 + k, clip(p.com_velocity[k], Real(-2), Real(2)) * Real(2));
    }
    put(4, (w.get(e.qpos, 2) - ref(at.position + 2)) * Real(5));
    for (int k = 0; k < 3; k++) put(5 + k, p.up[k]);
    Real v[2], drift[2];
    p.turn(w.get(e.qvel, 0), w.get(e.qvel, 1), v);
    put(8, v[0]), put(9, v[1]), put(10, w.get(e.qvel, 2));
    for (int k = 0; k < 3; k++) put(11 + k, w.get(e.qvel, 3 + k) * Real(0.5));
    // heading error: the difference of two angles, by their sines and cosines
    const Real qw = ref(at.quaternion), qx = ref(at.quaternion + 1), qy = ref(at.quaternion + 2), qz = ref(at.quaternion + 3);
    const Real ry = Real(2) * (qw * qz + qx * qy), rx = Real(1) - Real(2) * (qy * qy + qz * qz),
               r = Real(1) / sqrt(rx * rx + ry * ry);
    put(14, (p.sin_h * rx - p.cos_h * ry) * r);
    put(15, (p.cos_h * rx + p.sin_h * ry) * r);
    p.turn(w.get(e.qpos, 0) - ref(at.position), w.get(e.qpos, 1) - ref(at.position + 1), drift);
    for (int k = 0; k < 2; k++) put(16 + k, clip(drift[k], Real(-0.5), Real(0.5)) * Real(2));
    const batchsim::SinCos<Real> phase = sincos(w.get(e.phase, 1, 0) * Real(6.28318530717958647693));
    const int end = 18 + 2 * e.nj;
    put(end, phase.sin), put(end + 1, phase.cos);
    Real a = 0;
    for (int l = 0; l < B::width; l++) set_lane(a, l, T(amplitude(e.level[w.world(l)])));
    put(end + 2, a);
    for (int side = 0; side < 2; side++)
      put(end + 3 + side, clip(w.get(e.sensordata, e.load[side]) * Real(1 / e.weight_newton), Real(0), Real(2)));
  }
  for (int i : t.range(0, e.nj)) {
    put(18 + i, (w.get(e.qpos, 7 + i) - ref(at.q + i)) * Real(2));
    put(18 + e.nj + i, w.get(e.qvel, 6 + i) * Real(0.1));
  }
  for (int k : t.range(0, e.nact)) put(23 + 2 * e.nj + k, w.get(e.last_action, e.nact, k));
}

}  // namespace BS_ISA
}  // namespace stance
