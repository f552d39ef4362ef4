// A contact point as a collision function leaves it, and the frame that is made of it.
#pragma once

#include "math/spatial.h"

namespace batchsim {
inline namespace BS_ISA {

// dist of a lane in which the geoms do not touch
template <class R>
BS_FN R apart() {
  return R(1e30f);
}

// what a collision function leaves behind in the lanes where dist < apart(); elsewhere only dist has a meaning
template <class R>
struct ContactPoint {
  R dist;  // m; negative: penetration
  Vec3<R> pos, normal, tangent;
};

// length under which a vector has no direction: mjMINVAL in double. A difference of two unit vectors carries 1e-7 of rounding
// in float, so that what is shorter than a few of these is noise there.
template <class R>
BS_FN R min_direction() {
  constexpr bool is_float = sizeof(lane(R(0), 0)) == sizeof(float);
  return R(is_float ? 1e-6 : 1e-15);
}

// mju_normalize3: the x-axis where v is shorter than eps
template <class R>
BS_FN Vec3<R> unit_or_x(Vec3<R> v, R eps) {
  const R len = norm(v);
  const auto nil = len < eps;
  const R s = R(1) / select(nil, R(1), len);
  return {select(nil, R(1), v.x * s), select(nil, R(0), v.y * s), select(nil, R(0), v.z * s)};
}

// mju_makeFrame: rows normal, first tangent made orthogonal to it, second tangent.
// Without a tangent (nil) it is the y-axis, the z-axis where the normal is closer than 60 degrees to y.
template <class R>
BS_FN Mat3<R> make_frame(Vec3<R> normal, Vec3<R> tangent) {
  const Vec3<R> x = unit_or_x(normal, R(1e-15));
  const auto free = dot(tangent, tangent) < R(0.25);
  const auto off_y = abs(x.y) < R(0.5);
  const Vec3<R> axis{R(0), select(off_y, R(1), R(0)), select(off_y, R(0), R(1))};
  const Vec3<R> t = select3(free, axis, tangent);
  const Vec3<R> y = unit_or_x(t - x * dot(x, t), min_direction<R>());
  const Vec3<R> z = cross(x, y);
  return {{x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z}};
}

}  // namespace BS_ISA
}  // namespace batchsim
