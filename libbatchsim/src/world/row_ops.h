// Operations on the user's rows, a world at a time: reset, state rows, pushes and kicks.
//
// They touch no inner field, so that they are cheap beside a step; a call of one world is what a thread does on either device.
#pragma once

#include "backend/backend.h"
#include "world/engine.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// mjtState bits that batchsim has values for, in the order of a state row
enum StateBit : unsigned {
  kStateTime = 1 << 0,
  kStateQpos = 1 << 1,
  kStateQvel = 1 << 2,
  kStateAct = 1 << 3,
  kStateWarmstart = 1 << 5,
  kStateCtrl = 1 << 6,
  kStateQfrc = 1 << 7,
  kStateXfrc = 1 << 8,
};

// fn(values of world w, number) for each part of a state row
template <class T, class F>
BS_FN void for_state_parts(const Sizes& z, const WorldRows<T>& r, size_t w, unsigned spec, F fn) {
  if (spec & kStateTime) fn(r.time + w, 1);
  if (spec & kStateQpos) fn(r.qpos + w * z.nq, z.nq);
  if (spec & kStateQvel) fn(r.qvel + w * z.nv, z.nv);
  if (spec & kStateAct) fn(r.act + w * z.na, z.na);
  if (spec & kStateWarmstart) fn(r.qacc_warmstart + w * z.nv, z.nv);
  if (spec & kStateCtrl) fn(r.ctrl + w * z.nu, z.nu);
  if (spec & kStateQfrc) fn(r.qfrc_applied + w * z.nv, z.nv);
  if (spec & kStateXfrc) fn(r.xfrc_applied + w * 6 * z.nbody, 6 * z.nbody);
}

BS_FN int state_row_size(const Sizes& z, unsigned spec) {
  int n = 0;
  if (spec & kStateTime) n += 1;
  if (spec & kStateQpos) n += z.nq;
  if (spec & kStateQvel) n += z.nv;
  if (spec & kStateAct) n += z.na;
  if (spec & kStateWarmstart) n += z.nv;
  if (spec & kStateCtrl) n += z.nu;
  if (spec & kStateQfrc) n += z.nv;
  if (spec & kStateXfrc) n += 6 * z.nbody;
  return n;
}

template <class T>
BS_FN void clear_status_row(const WorldRows<T>& r, size_t w) {
  r.status[w] = 0;
  r.ncon_peak[w] = r.nefc_peak[w] = r.contacts_dropped[w] = r.rows_dropped[w] = r.bad_states[w] = 0;
}

// mj_resetData, mj_resetDataKeyframe; every trace of a bad state and of a push goes too
template <class T, class B>
BS_FN void reset_row(const Sizes& z, const ModelView<B>& m, const WorldRows<T>& r, size_t w, int key) {
  const auto fill = [](T* p, const T* from, int n) {
    for (int i = 0; i < n; i++) p[i] = from ? from[i] : T(0);
  };
  const bool k = key >= 0;
  r.time[w] = k ? m.key_time[key] : T(0);
  r.time_carry[w] = 0;
  fill(r.qpos + w * z.nq, k ? m.key_qpos + size_t(key) * z.nq : m.qpos0, z.nq);
  fill(r.qvel + w * z.nv, k ? m.key_qvel + size_t(key) * z.nv : nullptr, z.nv);
  fill(r.ctrl + w * z.nu, k ? m.key_ctrl + size_t(key) * z.nu : nullptr, z.nu);
  fill(r.act + w * z.na, nullptr, z.na);
  fill(r.qacc_warmstart + w * z.nv, nullptr, z.nv);
  fill(r.qfrc_applied + w * z.nv, nullptr, z.nv);
  fill(r.xfrc_applied + w * 6 * z.nbody, nullptr, 6 * z.nbody);
  fill(r.sensordata + w * z.nsensordata, nullptr, z.nsensordata);
  fill(r.push_force + w * 3, nullptr, 3);
  fill(r.push_point + w * 3, nullptr, 3);
  r.push_left[w] = r.push_body[w] = 0;
  clear_status_row(r, w);
}

// every operation but step, forward and the kick of a body
template <class T, class B>
BS_FN void row_op(const Sizes& z, const ModelView<B>& m, const WorldRows<T>& r, size_t w, const Task& task) {
  switch (task.op) {
    case Op::kReset: reset_row(z, m, r, w, task.key); break;
    case Op::kGetState: {
      T* to = static_cast<T*>(task.rows) + w * state_row_size(z, task.spec);
      for_state_parts(z, r, w, task.spec, [&](const T* p, int n) {
        for (int i = 0; i < n; i++) *to++ = p[i];
      });
      break;
    }
    case Op::kSetState: {
      const T* from = static_cast<const T*>(task.rows) + w * state_row_size(z, task.spec);
      for_state_parts(z, r, w, task.spec, [&](T* p, int n) {
        for (int i = 0; i < n; i++) p[i] = *from++;
      });
      if (task.spec & kStateTime) r.time_carry[w] = 0;
      break;
    }
    case Op::kPush:
      for (int i = 0; i < 3; i++) {
        r.push_force[w * 3 + i] = static_cast<const T*>(task.rows)[w * 3 + i];
        r.push_point[w * 3 + i] = T(task.point[i]);
      }
      r.push_body[w] = task.body;
      r.push_left[w] = task.nstep;
      break;
    case Op::kKick:
      for (int i = 0; i < z.nv; i++) r.qvel[w * z.nv + i] += static_cast<const T*>(task.rows)[w * z.nv + i];
      break;
    case Op::kClearStatus: clear_status_row(r, w); break;
    default: break;
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
