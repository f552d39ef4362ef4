// A plane against spheres, capsules and ellipsoids (engine_collision_primitive.c, mjc_PlaneConvex).
//
// Conventions as in sphere.h.
#pragma once

#include "kernels/collision/sphere.h"

namespace batchsim {
inline namespace BS_ISA {

template <class R>
struct Plane {
  Vec3<R> pos, normal;
};

// what all have in common: dist is above the plane, low is the lowest point; the contact is midway between both
template <class M, class R>
BS_FN bool plane_point(R margin, const Plane<R>& a, R dist, Vec3<R> low, Vec3<R> tangent, ContactPoint<R>& out) {
  const M touch = dist <= margin;
  out.dist = apart<R>();
  if (!any(touch)) return false;
  out.dist = select(touch, dist, apart<R>());
  out.pos = low - a.normal * (dist * R(0.5));
  out.normal = a.normal;
  out.tangent = tangent;
  return true;
}

// mjc_PlaneSphere
template <class M, class R>
BS_FN bool plane_sphere(R margin, const Plane<R>& a, const Capsule<R>& b, ContactPoint<R>& out) {
  const R dist = dot(b.pos - a.pos, a.normal) - b.radius;
  return plane_point<M>(margin, a, dist, b.pos - a.normal * b.radius, Vec3<R>{R(0), R(0), R(0)}, out);
}

// mjc_PlaneCapsule: a ball at each end, the positive one first; the first tangent follows the axis
template <class M, class R>
BS_FN int plane_capsule(R margin, const Plane<R>& a, const Capsule<R>& b, ContactPoint<R>* out) {
  const Vec3<R> end = b.axis * b.half;
  const R dist = dot(b.pos - a.pos, a.normal) - b.radius, rise = dot(end, a.normal);
  const Vec3<R> low = b.pos - a.normal * b.radius;
  const bool up = plane_point<M>(margin, a, dist + rise, low + end, b.axis, out[0]);
  const bool down = plane_point<M>(margin, a, dist - rise, low - end, b.axis, out[1]);
  return (up ? 1 : 0) | (down ? 2 : 0);
}

// mjc_PlaneConvex with mjc_ellipsoidSupport: the support point against the normal, size * w / |w| with w = size * local normal
template <class M, class R>
BS_FN bool plane_ellipsoid(R margin, const Plane<R>& a, Vec3<R> pos, const Mat3<R>& mat, Vec3<R> size, ContactPoint<R>& out) {
  const Vec3<R> local = mul_transposed(mat, a.normal);
  const Vec3<R> w{local.x * size.x, local.y * size.y, local.z * size.z};
  const R len = norm(w), inv = R(1) / len;
  const Vec3<R> low = pos - mat * Vec3<R>{w.x * size.x * inv, w.y * size.y * inv, w.z * size.z * inv};
  return plane_point<M>(margin, a, dot(pos - a.pos, a.normal) - len, low, Vec3<R>{R(0), R(0), R(0)}, out);
}

}  // namespace BS_ISA
}  // namespace batchsim
