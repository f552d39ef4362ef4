// Where two capsules touch, and where one stands upright on a plane: once more and wide, in the worlds where they do.
//
// In float an end of a limb is right to 2e-8 m. That is little where limbs just touch, but limbs that are held in each other push with
// thousands of newtons on that depth; where their axes nearly meet, 1 mm apart, it turns the normal by 2e-5 rad, and where they are
// nearly parallel it moves the contact along them by itself over the sine. Each has moved a joint by 1e-6 rad in a step. A heap
// of bodies steps 4 to 8 % slower than with axes that nearly meet alone; where only feet touch the floor it costs nothing.
#pragma once

#include "kernels/collision/sphere.h"
#include "math/wide.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// sine between a capsule and a plane's normal below which float has lost digits of the tangent
inline constexpr double kUpright = 0.03;

// the z-axis of a geom
template <class B>
BS_FN Vec3<wide<typename B::Real>> wide_axis(const ModelView<B>& m, const StateView<B>& d, int g) {
  using Real = typename B::Real;
  using Wide = wide<Real>;
  return to_mat(load4_wide<Real>(d.xquat, d.xquat_lo, 4 * m.geom_bodyid[g]) * load4<Wide>(m.geom_quat, 4 * g)).col(2);
}

template <class B>
BS_FN Capsule<wide<typename B::Real>> wide_capsule(const ModelView<B>& m, const StateView<B>& d, int g) {
  using Real = typename B::Real;
  using Wide = wide<Real>;
  const int body = m.geom_bodyid[g];
  const Quat<Wide> quat = load4_wide<Real>(d.xquat, d.xquat_lo, 4 * body);
  return {load3_wide<Real>(d.xpos, d.xpos_lo, 3 * body) + rotate(quat, load3<Wide>(m.geom_pos, 3 * g)), wide_axis(m, d, g),
          Wide(m.geom_size[3 * g]), Wide(m.geom_size[3 * g + 1])};
}

// Where a capsule stands upright on a plane: the tangent is what is left of its axis along the plane, and that turns the friction
// pyramid. Straight legs of a quadruped had it 0.02 off in float, and their first step 5e-6 rad. hits and out are what plane_capsule
// found, cosine that of axis and normal; returns the hits.
template <class B>
BS_FN int refine_tangents(const ModelView<B>& m, const StateView<B>& d, int g1, int g2, typename B::Real cosine, int hits,
                          ContactPoint<typename B::Real>* out) {
  using Real = typename B::Real;
  using Wide = wide<Real>;
  if constexpr (!is_wide<Real>) {
    if (!hits || !any(Real(1) - cosine * cosine < Real(2 * kUpright * kUpright))) return hits;
    const Vec3<Wide> normal = wide_axis(m, d, g1), axis = wide_axis(m, d, g2), t = axis - normal * dot(normal, axis);
    const Wide len = norm(t);
    const Real sine = narrow<Real>(len);
    // at right angles to the plane there is none, as in MuJoCo
    const typename B::Mask upright = (sine < Real(kUpright)) & (sine > Real(1e-15));
    if (!any(upright)) return hits;
    const Vec3<Real> tangent = narrow<Real>(t * (Wide(1) / max(len, Wide(1e-15))));
    for (int e = 0; e < 2; e++)
      if (hits >> e & 1) out[e].tangent = select3(upright, tangent, out[e].tangent);
  }
  return hits;
}

// hits and out are what capsule_capsule found, seen from geom g1; returns the hits anew
template <class B>
BS_FN int refine_capsules(const ModelView<B>& m, const StateView<B>& d, int g1, int g2, typename B::Real margin, int hits,
                          ContactPoint<typename B::Real>* out) {
  using Real = typename B::Real;
  using Wide = wide<Real>;
  if constexpr (!is_wide<Real>) {
    if (!hits) return 0;
    const typename B::Mask touch = min(out[0].dist, out[1].dist) < apart<Real>();
    using WideMask = decltype(Wide(0) < Wide(0));
    Capsule<Wide> a = wide_capsule(m, d, g1), b = wide_capsule(m, d, g2);
    b.pos = b.pos - a.pos;
    a.pos = {0, 0, 0};
    ContactPoint<Wide> again[2];
    const int wide_hits = capsule_capsule<WideMask>(widen(margin), a, b, again);
    hits = 0;
    for (int e = 0; e < 2; e++) {
      out[e].dist = select(touch, narrow<Real>(again[e].dist), out[e].dist);
      if (any(out[e].dist < apart<Real>())) hits |= 1 << e;
      if (!(wide_hits >> e & 1)) continue;
      out[e].pos = select3(touch, narrow<Real>(again[e].pos), out[e].pos);
      out[e].normal = select3(touch, narrow<Real>(again[e].normal), out[e].normal);
      out[e].tangent = {0, 0, 0};
    }
  }
  return hits;
}

}  // namespace BS_ISA
}  // namespace batchsim
