// Where everything is: bodies, joints, geoms and sites in the world frame.
//
//   in     qpos
//   out    xpos xquat xmat xipos ximat   bodies
//          xanchor xaxis                 joints
//          geom_xpos geom_xmat site_xpos site_xmat
//   note   the chain of poses is wide: in float, rounding would add up from body to body to 2e-7 m at a fingertip, and a grazing contact
//          switches by less (heaps of the muscular body: 97.8 % of steps within 1e-6 rad of MuJoCo's in float, 99.6 % so)
//   source engine_core_smooth.c mj_kinematics1, mj_kinematics2; MuJoCo, Computation, Kinematics
#pragma once

#include "math/functions.h"
#include "math/spatial.h"
#include "math/wide.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// rotation by an angle about a constant axis (mju_axisAngle2Quat)
template <class R, class T>
BS_FN Quat<R> axis_angle(const T* axis, R angle) {
  const SinCos<R> h = sincos(angle * R(0.5));
  return {h.cos, h.sin * R(axis[0]), h.sin * R(axis[1]), h.sin * R(axis[2])};
}

// whether a constant rotation turns anything
template <class T>
BS_FN bool turns(const T* quat) {
  return quat[0] != 1 || quat[1] != 0 || quat[2] != 0 || quat[3] != 0;
}

template <class B>
BS_FN void body_pose(const ModelView<B>& m, StateView<B>& d, int i) {
  using Real = typename B::Real;
  using Wide = wide<Real>;
  const int parent = m.body_parentid[i], jnt = m.body_jntadr[i], njnt = m.body_jntnum[i];
  Vec3<Wide> pos;
  Quat<Wide> quat;

  if (njnt == 1 && m.jnt_type[jnt] == kJointFree) {
    const int q = m.jnt_qposadr[jnt];
    pos = widen(load3<Real>(d.qpos, q));
    quat = widen(load4<Real>(d.qpos, q + 3));
    store_wide<Real>(d.xanchor, d.xanchor_lo, 3 * jnt, pos);
    store(d.xaxis, 3 * jnt, load3<Real>(m.jnt_axis, 3 * jnt));
  } else {
    // fixed offset from the parent, then the joints in turn
    quat = load4_wide<Real>(d.xquat, d.xquat_lo, 4 * parent);
    pos = load3_wide<Real>(d.xpos, d.xpos_lo, 3 * parent) + rotate(quat, load3<Wide>(m.body_pos, 3 * i));
    if (turns(m.body_quat + 4 * i)) quat = quat * load4<Wide>(m.body_quat, 4 * i);
    for (int j = jnt; j < jnt + njnt; j++) {
      const bool offset = m.jnt_pos[3 * j] != 0 || m.jnt_pos[3 * j + 1] != 0 || m.jnt_pos[3 * j + 2] != 0;
      const Vec3<Wide> local = load3<Wide>(m.jnt_pos, 3 * j);
      if (offset) pos = pos + rotate(quat, local);
      store_wide<Real>(d.xanchor, d.xanchor_lo, 3 * j, pos);
      store(d.xaxis, 3 * j, rotate(narrow<Real>(quat), load3<Real>(m.jnt_axis, 3 * j)));
      const int q = m.jnt_qposadr[j];
      quat = quat * widen(axis_angle(m.jnt_axis + 3 * j, Real(d.qpos[q]) - Real(m.qpos0[q])));
      if (offset) pos = pos - rotate(quat, local);  // the anchor stays where it is
    }
  }
  quat = normalize(quat);
  store_wide<Real>(d.xpos, d.xpos_lo, 3 * i, pos);
  store_wide<Real>(d.xquat, d.xquat_lo, 4 * i, quat);
  store(d.xmat, 9 * i, to_mat(narrow<Real>(quat)));
}

// a frame fixed to a body
template <class B, class T>
BS_FN void attached_frame(const StateView<B>& d, int body, const T* pos, const T* quat, typename B::RealRow xpos,
                          typename B::RealRow xmat) {
  using Real = typename B::Real;
  store(xpos, 0, load3<Real>(d.xpos, 3 * body) + load9<Real>(d.xmat, 9 * body) * load3<Real>(pos, 0));
  store(xmat, 0, to_mat(load4<Real>(d.xquat, 4 * body) * load4<Real>(quat, 0)));
}

template <class B>
BS_FN void kinematics(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  // the world body
  if (auto lead = t.leader()) {
    store_wide<Real>(d.xpos, d.xpos_lo, 0, Vec3<wide<Real>>{0, 0, 0});
    store_wide<Real>(d.xquat, d.xquat_lo, 0, Quat<wide<Real>>{1, 0, 0, 0});
    store(d.xmat, 0, Mat3<Real>{{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  }
  t.sync();

  // a level of the body tree at a time: parents first
  for (int level = 1; level < m.nbodylevel; level++) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) body_pose(m, d, m.body_order[q]);
    t.sync();
  }

  for (int i : t.range(0, m.nbody))
    attached_frame(d, i, m.body_ipos + 3 * i, m.body_iquat + 4 * i, d.xipos + 3 * i, d.ximat + 9 * i);
  for (int i : t.range(0, m.ngeom)) {
    const int body = m.geom_bodyid[i];
    const Vec3<Real> offset = load9<Real>(d.xmat, 9 * body) * load3<Real>(m.geom_pos, 3 * i);
    store_wide<Real>(d.geom_xpos, d.geom_xpos_lo, 3 * i, load3_wide<Real>(d.xpos, d.xpos_lo, 3 * body) + widen(offset));
    store(d.geom_xmat, 9 * i, to_mat(load4<Real>(d.xquat, 4 * body) * load4<Real>(m.geom_quat, 4 * i)));
  }
  for (int i : t.range(0, m.nsite))
    attached_frame(d, m.site_bodyid[i], m.site_pos + 3 * i, m.site_quat + 4 * i, d.site_xpos + 3 * i, d.site_xmat + 9 * i);
}

}  // namespace BS_ISA
}  // namespace batchsim
