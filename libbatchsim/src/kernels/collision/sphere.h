// Spheres and capsules against each other (engine_collision_primitive.c).
//
// Everything is computed from differences of positions, so that float keeps its digits far from the origin. A function returns
// whether some lane touches; it leaves `out` alone but for dist where none does. margin is margin + gap.
#pragma once

#include "kernels/collision/point.h"

namespace batchsim {
inline namespace BS_ISA {

// a sphere or a capsule: centre, z-axis of its frame, radius, half length
template <class R>
struct Capsule {
  Vec3<R> pos, axis;
  R radius, half;
};

// mjraw_SphereSphere: balls of the radii of a and b at a.pos + off_a and b.pos + off_b; d goes from the first to the second.
// Where the centres meet, the normal is across both z-axes, along x if these are parallel too.
template <class R, class M>
BS_FN bool ball_ball(R margin, const Capsule<R>& a, Vec3<R> off_a, const Capsule<R>& b, Vec3<R> d, M mask, ContactPoint<R>& out) {
  const R near = margin + a.radius + b.radius;
  const R dd = dot(d, d);
  const M touch = mask & (dd <= near * near);
  out.dist = apart<R>();
  if (!any(touch)) return false;

  const R len = sqrt(dd);
  const R dist = len - a.radius - b.radius;
  const auto nil = len < R(1e-15);
  Vec3<R> n = d * (R(1) / select(nil, R(1), len));
  if (any(nil)) n = select3(nil, unit_or_x(cross(a.axis, b.axis), min_direction<R>()), n);

  out.dist = select(touch, dist, apart<R>());
  out.pos = a.pos + (off_a + n * (a.radius + dist * R(0.5)));
  out.normal = n;
  out.tangent = {R(0), R(0), R(0)};
  return true;
}

// mjc_SphereSphere
template <class M, class R>
BS_FN bool sphere_sphere(R margin, const Capsule<R>& a, const Capsule<R>& b, ContactPoint<R>& out) {
  return ball_ball(margin, a, Vec3<R>{R(0), R(0), R(0)}, b, b.pos - a.pos, M(true), out);
}

// mjraw_SphereCapsule: against the ball at the nearest point of the capsule's segment
template <class M, class R>
BS_FN bool sphere_capsule(R margin, const Capsule<R>& a, const Capsule<R>& b, ContactPoint<R>& out) {
  const Vec3<R> d = b.pos - a.pos;
  const R x = max(-b.half, min(b.half, -dot(b.axis, d)));
  return ball_ball(margin, a, Vec3<R>{R(0), R(0), R(0)}, b, d + b.axis * x, M(true), out);
}

// mjraw_CapsuleCapsule as of 4.0: the balls at the nearest points of both segments; where the axes are parallel (sine < 1e-4),
// the balls at both ends of the first segment, each against its nearest point of the second one.
//   first segment p + s u, second q + t v, r = p - q, 0 <= s, t <= 1
template <class M, class R>
BS_FN int capsule_capsule(R margin, const Capsule<R>& a, const Capsule<R>& b, ContactPoint<R>* out) {
  const Vec3<R> end_a = a.axis * a.half, end_b = b.axis * b.half;
  const Vec3<R> u = end_a * R(2), v = end_b * R(2);
  const Vec3<R> r = (a.pos - b.pos) - (end_a - end_b);
  const R uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), ur = dot(u, r), vr = dot(v, r);

  // a segment shorter than this is a point; the squares of 1e-15 are as good in float
  const M line_a = uu > R(1e-15), line_b = vv > R(1e-15);
  const R inv_uu = select(line_a, R(1), R(0)) / select(line_a, uu, R(1));
  const R inv_vv = select(line_b, R(1), R(0)) / select(line_b, vv, R(1));

  // s of the points on the first line that are nearest to the ends of the second segment
  const auto clip = [](R x) { return max(R(0), min(R(1), x)); };
  const R s0 = clip(-ur * inv_uu), s1 = clip((uv - ur) * inv_uu);

  // nearest points of the two lines by the cross product of the axes; its square against both lengths is the squared sine
  const Vec3<R> n = cross(u, v);
  const R nn = dot(n, n);
  const M lines = line_a & line_b;
  const M skew = lines & (nn > R(1e-8) * uu * vv);
  const R s = clip(dot(n, cross(v, r)) / select(skew, nn, R(1)));

  // t nearest to s, clipped to the second segment; s then follows
  const auto touch = [&](R s, M mask, ContactPoint<R>& out) {
    R t = (uv * s + vr) * inv_vv;
    s = select(lines, select(t < R(0), s0, select(t > R(1), s1, s)), s);
    t = clip(t);
    const Vec3<R> off_a = u * s - end_a;
    return ball_ball(margin, a, off_a, b, v * t - (r + u * s), mask, out);
  };
  // a point a: s = 0; a point b: s = s0 (= 0 if both are points)
  const R first = select(skew, s, select(line_b, R(0), s0));
  const bool hit = touch(first, M(true), out[0]);
  out[1].dist = apart<R>();
  const M parallel = lines & !skew;
  if (!any(parallel)) return hit ? 1 : 0;
  return (hit ? 1 : 0) | (touch(R(1), parallel, out[1]) ? 2 : 0);
}

}  // namespace BS_ISA
}  // namespace batchsim
