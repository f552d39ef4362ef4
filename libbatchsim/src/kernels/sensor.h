// Sensors: touch, gyro, jointpos, jointvel, framepos, framequat, subtreecom, clock; with cutoff.
//
//   in     the state and what forward computed
//   out    con_force, and sensordata of the state before the integration, as mj_step leaves it
//   source engine_sensor.c mj_sensorPos, mj_sensorVel, mj_sensorAcc; engine_ray.c mju_rayGeom
#pragma once

#include "kernels/solver_layout.h"
#include "kernels/status.h"

namespace batchsim {
inline namespace BS_ISA {

template <class R>
using MaskOf = decltype(R() < R());

// whether x + v t, for some t >= 0, is in the ball |x|^2 <= r2 of the first n coordinates
template <class R>
BS_FN MaskOf<R> ray_meets_ball(const R* x, const R* v, R r2, int n) {
  R a = 0, b = 0, c = -r2;
  for (int k = 0; k < n; k++) a = a + v[k] * v[k], b = b + x[k] * v[k], c = c + x[k] * x[k];
  const R det = b * b - a * c;
  return (c <= R(0)) | ((det >= R(0)) & (b < R(0)) & (a > R(0)));
}

// the part lo ... hi of a ray x + v t, cut by what bounds a convex solid; empty where lo > hi
template <class R>
struct Slab {
  R lo, hi;
  BS_FN void cut(R x, R v, R half) {
    const auto flat = abs(v) < R(1e-15);
    const R inv = R(1) / select(flat, R(1), v);
    const R a = (-half - x) * inv, b = (half - x) * inv;
    const auto out = flat & (abs(x) > half);
    lo = select(flat, select(out, R(1), lo), max(lo, min(a, b)));
    hi = select(flat, select(out, R(-1), hi), min(hi, max(a, b)));
  }
  // the part inside the circle x^2 + y^2 <= r2
  BS_FN void cut_circle(const R* x, const R* v, R r2) {
    const R a = v[0] * v[0] + v[1] * v[1], b = x[0] * v[0] + x[1] * v[1], c = x[0] * x[0] + x[1] * x[1] - r2;
    const R det = b * b - a * c;
    const auto flat = a < R(1e-15);
    const auto round = a >= R(1e-15);
    const auto out = (flat & (c > R(0))) | (round & (det < R(0)));
    const R root = sqrt(max(det, R(0))), inv = R(1) / select(flat, R(1), a);
    lo = select(out, R(1), select(flat, lo, max(lo, (-b - root) * inv)));
    hi = select(out, R(-1), select(flat, hi, min(hi, (-b + root) * inv)));
  }
};

// whether the ray from point p (in the zone's frame) along v meets the solid; inside counts
template <class R>
BS_FN MaskOf<R> ray_meets(int type, const R* size, Vec3<R> p, Vec3<R> v) {
  const R x[3] = {p.x, p.y, p.z}, u[3] = {v.x, v.y, v.z};
  Slab<R> part{R(0), R(1e10)};
  switch (type) {
    case kGeomSphere: return ray_meets_ball(x, u, size[0] * size[0], 3);
    case kGeomEllipsoid: {
      const R xs[3] = {x[0] / size[0], x[1] / size[1], x[2] / size[2]}, us[3] = {u[0] / size[0], u[1] / size[1], u[2] / size[2]};
      return ray_meets_ball(xs, us, R(1), 3);
    }
    case kGeomCapsule: {
      const R top[3] = {x[0], x[1], x[2] - size[1]}, bottom[3] = {x[0], x[1], x[2] + size[1]};
      part.cut_circle(x, u, size[0] * size[0]);
      part.cut(x[2], u[2], size[1]);
      return (part.lo <= part.hi) | ray_meets_ball(top, u, size[0] * size[0], 3) | ray_meets_ball(bottom, u, size[0] * size[0], 3);
    }
    case kGeomCylinder:
      part.cut_circle(x, u, size[0] * size[0]);
      part.cut(x[2], u[2], size[1]);
      return part.lo <= part.hi;
    default:  // box
      for (int k = 0; k < 3; k++) part.cut(x[k], u[k], size[k]);
      return part.lo <= part.hi;
  }
}

// con_force: the normal force of each contact, the sum over its rows (edges of the pyramid, or the one normal row)
template <class B>
BS_FN void contact_force(Team<B> t, StateView<B> d, int ncon) {
  using Real = typename B::Real;
  for (int s : t.range(0, d.solver_n[kSlotCount]))
    for (int l = 0; l < B::width; l++)
      if (d.slot_src(s, l) >= 0) d.con_slot(d.slot_src(s, l), l) = s;
  t.sync();
  for (int c : t.range(0, ncon)) {
    Real sum = 0;
    for (int l = 0; l < B::width; l++) {
      const int n = c < d.ncon(0, l) ? int(d.con_nrow(c, l)) : 0;
      for (int q = 0; q < n; q++) set_lane(sum, l, lane(sum, l) + peek<B>(d.row_f, d.con_slot(kContactRows * c + q, l), l));
    }
    d.con_force[c] = sum;
  }
  t.sync();
}

// normal forces of the contacts of the site's body whose line of force meets the site's volume
template <class B>
BS_FN typename B::Real touch(const ModelView<B>& m, const StateView<B>& d, int site, int ncon) {
  using Real = typename B::Real;
  const int body = m.site_bodyid[site];
  const Vec3<Real> pos = load3<Real>(d.site_xpos, 3 * site);
  const Mat3<Real> mat = load9<Real>(d.site_xmat, 9 * site);
  const Real size[3] = {Real(m.site_size[3 * site]), Real(m.site_size[3 * site + 1]), Real(m.site_size[3 * site + 2])};
  Real sum = 0;
  for (int c = 0; c < ncon; c++) {
    unsigned mine = 0, second = 0;
    for (int l = 0; l < B::width; l++) {
      if (c >= d.ncon(0, l)) continue;
      const int pair = d.con_pair(c, l);
      if (m.pair_body2[pair] == body) second |= 1u << l;
      if (m.pair_body2[pair] == body || m.pair_body1[pair] == body) mine |= 1u << l;
    }
    if (!mine) continue;
    const Real force = d.con_force[c];
    const auto pressed = B::from_bits(mine) & (force > Real(0));
    if (!any(pressed)) continue;
    const Vec3<Real> normal = load3<Real>(d.con_frame, 9 * c);
    const Vec3<Real> ray = select3(B::from_bits(second), -normal, normal);
    const auto hit =
        ray_meets(m.site_type[site], size, mul_transposed(mat, load3<Real>(d.con_pos, 3 * c) - pos), mul_transposed(mat, ray));
    sum = sum + select(pressed & hit, force, Real(0));
  }
  return sum;
}

template <class B>
struct Frame {
  using Real = typename B::Real;
  Vec3<Real> pos;
  Quat<Real> quat;
};
template <class B>
BS_FN Frame<B> object_frame(const ModelView<B>& m, const StateView<B>& d, int type, int id) {
  using Real = typename B::Real;
  switch (type) {
    case kObjXBody: return {load3<Real>(d.xpos, 3 * id), load4<Real>(d.xquat, 4 * id)};
    case kObjBody: return {load3<Real>(d.xipos, 3 * id), load4<Real>(d.xquat, 4 * id) * load4<Real>(m.body_iquat, 4 * id)};
    case kObjGeom:
      return {load3<Real>(d.geom_xpos, 3 * id), load4<Real>(d.xquat, 4 * m.geom_bodyid[id]) * load4<Real>(m.geom_quat, 4 * id)};
    default:  // site
      return {load3<Real>(d.site_xpos, 3 * id), load4<Real>(d.xquat, 4 * m.site_bodyid[id]) * load4<Real>(m.site_quat, 4 * id)};
  }
}

template <class B>
BS_FN void sensor(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;
  if (m.disableflags & kDisableSensor) return;
  bool any_touch = false;
  for (int i = 0; i < m.nsensor; i++) any_touch |= m.sensor_type[i] == kSensorTouch;
  int ncon = 0;
  for (int l = 0; l < B::width; l++) ncon = max_int(ncon, d.ncon(0, l));
  if (any_touch && ncon) contact_force(t, d, ncon);
  for (int i : t.range(0, m.nsensor)) {
    const int id = m.sensor_objid[i], adr = m.sensor_adr[i], dim = m.sensor_dim[i];
    Real v[4] = {0, 0, 0, 0};
    const auto set3 = [&](Vec3<Real> a) { v[0] = a.x, v[1] = a.y, v[2] = a.z; };
    switch (m.sensor_type[i]) {
      case kSensorTouch: v[0] = touch(m, d, id, ncon); break;
      case kSensorGyro: set3(mul_transposed(load9<Real>(d.site_xmat, 9 * id), load3<Real>(d.cvel, 6 * m.site_bodyid[id]))); break;
      case kSensorJointpos: v[0] = d.qpos[m.jnt_qposadr[id]]; break;
      case kSensorJointvel: v[0] = d.qvel[m.jnt_dofadr[id]]; break;
      case kSensorFramepos: set3(object_frame(m, d, m.sensor_objtype[i], id).pos); break;
      case kSensorFramequat: {
        const Quat<Real> q = object_frame(m, d, m.sensor_objtype[i], id).quat;
        v[0] = q.w, v[1] = q.x, v[2] = q.y, v[3] = q.z;
        break;
      }
      case kSensorSubtreecom: set3(load3<Real>(d.subtree_com, 3 * id)); break;
      default:  // clock
        v[0] = d.time[0];
    }
    // a cutoff holds on both sides of real values, on the upper one of positive values, not for quaternions
    const Real cutoff = m.sensor_cutoff[i];
    const bool cut = m.sensor_cutoff[i] > 0 && m.sensor_type[i] != kSensorFramequat;
    for (int k = 0; k < dim; k++) {
      Real x = v[k];
      if (cut) x = m.sensor_type[i] == kSensorTouch ? min(x, cutoff) : clip(x, -cutoff, cutoff);
      d.sensordata[adr + k] = x;
    }
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
