// Where everything is: bodies, joints, geoms and sites in the world frame.
//
//   in     qpos
//   out    xpos xquat xmat xipos ximat   bodies
//          xanchor xaxis                 joints
//          geom_xpos geom_xmat site_xpos site_xmat
//   source engine_core_smooth.c mj_kinematics1, mj_kinematics2; MuJoCo, Computation, Kinematics
#pragma once

#include "math/functions.h"
#include "math/spatial.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// rotation by an angle about a constant axis (mju_axisAngle2Quat)
template <class R, class T>
BS_FN Quat<R> axis_angle(const T* axis, R angle) {
  const SinCos<R> h = sincos(angle * R(0.5));
  return {h.cos, h.sin * R(axis[0]), h.sin * R(axis[1]), h.sin * R(axis[2])};
}

template <class B>
BS_FN void body_pose(const ModelView<B>& m, StateView<B>& d, int i) {
  using Real = typename B::Real;
  const int parent = m.body_parentid[i], jnt = m.body_jntadr[i], njnt = m.body_jntnum[i];
  Vec3<Real> pos;
  Quat<Real> quat;

  if (njnt == 1 && m.jnt_type[jnt] == kJointFree) {
    const int q = m.jnt_qposadr[jnt];
    pos = load3<Real>(d.qpos, q);
    quat = normalize(load4<Real>(d.qpos, q + 3));
    store(d.xanchor, 3 * jnt, pos);
    store(d.xaxis, 3 * jnt, load3<Real>(m.jnt_axis, 3 * jnt));
  } else {
    // fixed offset from the parent, then the joints in turn
    pos = load3<Real>(d.xpos, 3 * parent) + load9<Real>(d.xmat, 9 * parent) * load3<Real>(m.body_pos, 3 * i);
    quat = load4<Real>(d.xquat, 4 * parent) * load4<Real>(m.body_quat, 4 * i);
    for (int j = jnt; j < jnt + njnt; j++) {
      const Vec3<Real> local = load3<Real>(m.jnt_pos, 3 * j);
      const Vec3<Real> axis = rotate(quat, load3<Real>(m.jnt_axis, 3 * j));
      const Vec3<Real> anchor = pos + rotate(quat, local);
      const int q = m.jnt_qposadr[j];
      quat = quat * axis_angle(m.jnt_axis + 3 * j, Real(d.qpos[q]) - Real(m.qpos0[q]));
      pos = anchor - rotate(quat, local);  // the anchor stays where it is
      store(d.xanchor, 3 * j, anchor);
      store(d.xaxis, 3 * j, axis);
    }
  }
  quat = normalize(quat);
  store(d.xpos, 3 * i, pos);
  store(d.xquat, 4 * i, quat);
  store(d.xmat, 9 * i, to_mat(quat));
}

// a frame fixed to a body
template <class B, class T>
BS_FN void attached_frame(const StateView<B>& d, int body, const T* pos, const T* quat, typename B::RealRow xpos, typename B::RealRow xmat) {
  using Real = typename B::Real;
  store(xpos, 0, load3<Real>(d.xpos, 3 * body) + load9<Real>(d.xmat, 9 * body) * load3<Real>(pos, 0));
  store(xmat, 0, to_mat(load4<Real>(d.xquat, 4 * body) * load4<Real>(quat, 0)));
}

template <class B>
BS_FN void kinematics(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  // the world body
  if (auto lead = t.leader()) {
    store(d.xpos, 0, Vec3<Real>{0, 0, 0});
    store(d.xquat, 0, Quat<Real>{1, 0, 0, 0});
    store(d.xmat, 0, Mat3<Real>{{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  }
  t.sync();

  // a level of the body tree at a time: parents first
  for (int level = 1; level < m.nbodylevel; level++) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) body_pose(m, d, m.body_order[q]);
    t.sync();
  }

  for (int i : t.range(0, m.nbody)) attached_frame(d, i, m.body_ipos + 3 * i, m.body_iquat + 4 * i, d.xipos + 3 * i, d.ximat + 9 * i);
  for (int i : t.range(0, m.ngeom))
    attached_frame(d, m.geom_bodyid[i], m.geom_pos + 3 * i, m.geom_quat + 4 * i, d.geom_xpos + 3 * i, d.geom_xmat + 9 * i);
  for (int i : t.range(0, m.nsite))
    attached_frame(d, m.site_bodyid[i], m.site_pos + 3 * i, m.site_quat + 4 * i, d.site_xpos + 3 * i, d.site_xmat + 9 * i);
}

}  // namespace BS_ISA
}  // namespace batchsim
