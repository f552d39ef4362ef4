// mj_collision: contacts of the candidate pairs (Collision detection in MuJoCo's computation chapter).
//
// in   geom_xpos, what rounding left out of it, geom_xmat; xpos, xquat and theirs
// out  con_dist, con_pos, con_frame, con_pair; ncon, ncon_need, status |= kContactsDropped
//
// Broad phase: the pairs whose bounding spheres meet in some world, in MuJoCo's contact order. Narrow phase, a chunk of pairs at a
// time: each member tests a pair and stages up to two points; the leader gives out slots, a world at a time, in pair order, then
// point order; the points go to their slots in parallel. Contacts in the gap (margin <= dist <= margin + gap) are kept, as MuJoCo
// does; they make no rows. What exceeds nconmax is counted and dropped, so that the first nconmax remain.
//
// barriers: two of the filter, three a chunk
#pragma once

#include "batchsim/status.h"
#include "kernels/collision/pair_func.h"
#include "kernels/collision/plane.h"
#include "kernels/collision/refine.h"
#include "kernels/collision/sphere.h"
#include "math/wide.h"
#include "model/enums.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// from one geom to another: in float, the roundings of two positions are larger than what is left of them
template <class B>
BS_FN Vec3<typename B::Real> geom_offset(const StateView<B>& d, int g1, int g2) {
  using Real = typename B::Real;
  const Vec3<Real> from = load3<Real>(d.geom_xpos, 3 * g1), r = offset_from(from, d.geom_xpos, d.geom_xpos_lo, 3 * g2);
  return r - offset_from(from, d.geom_xpos, d.geom_xpos_lo, 3 * g1);
}

// mj_filterSphere, the other way round: whether the bounding spheres of pair p meet in some lane. Slightly wide, so that it never
// decides about a contact: then a world's contacts do not depend on its neighbours in the tile.
template <class B>
BS_FN bool pair_near(const ModelView<B>& m, const StateView<B>& d, int p) {
  using Real = typename B::Real;
  using Scalar = typename B::Scalar;
  const int g1 = m.pair_geom1[p], g2 = m.pair_geom2[p];
  const Scalar bound = Scalar(1.0001) * (m.geom_rbound[g1] + m.geom_rbound[g2] + m.pair_margin[p] + m.pair_gap[p]);
  const Vec3<Real> dif = geom_offset(d, g1, g2);
  if (m.pair_func[p] <= kPlaneEllipsoid) {
    const Vec3<Real> normal{Real(d.geom_xmat[9 * g1 + 2]), Real(d.geom_xmat[9 * g1 + 5]), Real(d.geom_xmat[9 * g1 + 8])};
    // far along the plane the product cancels
    return any(dot(dif, normal) <= Real(bound) + Real(1e-6) * (abs(dif.x) + abs(dif.y) + abs(dif.z)));
  }
  return any(dot(dif, dif) <= Real(bound * bound));
}

template <class B>
BS_FN Capsule<typename B::Real> load_capsule(const ModelView<B>& m, const StateView<B>& d, int g, Vec3<typename B::Real> pos) {
  using Real = typename B::Real;
  return {pos,
          {Real(d.geom_xmat[9 * g + 2]), Real(d.geom_xmat[9 * g + 5]), Real(d.geom_xmat[9 * g + 8])},
          Real(m.geom_size[3 * g]),
          Real(m.geom_size[3 * g + 1])};
}

// calls the pair's collision function; bit i of the result: point i touches in some lane
template <class B>
BS_FN int collide(const ModelView<B>& m, const StateView<B>& d, int p, ContactPoint<typename B::Real>* out) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  const int g1 = m.pair_geom1[p], g2 = m.pair_geom2[p];
  const Real margin = m.pair_margin[p] + m.pair_gap[p];
  // seen from geom1: where limbs sink into each other their axes nearly meet, and the normal is the direction of a tiny difference
  const Vec3<Real> pos = geom_offset(d, g1, g2);
  const Capsule<Real> a = load_capsule(m, d, g1, Vec3<Real>{0, 0, 0}), b = load_capsule(m, d, g2, pos);
  switch (m.pair_func[p]) {
    case kPlaneSphere: return plane_sphere<Mask>(margin, Plane<Real>{a.pos, a.axis}, b, out[0]);
    case kPlaneCapsule:
      return refine_tangents(m, d, g1, g2, dot(a.axis, b.axis), plane_capsule<Mask>(margin, Plane<Real>{a.pos, a.axis}, b, out),
                             out);
    case kPlaneEllipsoid: {
      const Vec3<Real> size{Real(m.geom_size[3 * g2]), Real(m.geom_size[3 * g2 + 1]), Real(m.geom_size[3 * g2 + 2])};
      return plane_ellipsoid<Mask>(margin, Plane<Real>{a.pos, a.axis}, pos, load9<Real>(d.geom_xmat, 9 * g2), size, out[0]);
    }
    case kSphereSphere: return sphere_sphere<Mask>(margin, a, b, out[0]);
    case kSphereCapsule: return sphere_capsule<Mask>(margin, a, b, out[0]);
    default: return refine_capsules(m, d, g1, g2, margin, capsule_capsule<Mask>(margin, a, b, out), out);
  }
}

// x of one lane to element i of a row
template <class B>
BS_FN void put(const typename B::RealRow& row, int i, int l, typename B::Real x) {
  if constexpr (B::width == 1) {
    row[i] = x;
  } else {
    set_lane(row[i], l, lane(x, l));
  }
}

template <class B>
BS_FN void collision(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  if (auto lead = t.leader()) {
    for (int l = 0; l < B::width; l++) {
      d.ncon(0, l) = 0;
      d.ncon_need(0, l) = 0;
    }
  }
  if (m.disableflags & (kDisableConstraint | kDisableContact)) { return; }

  const int ncand = t.filter(d.cand, 0, m.npair, [&](int p) { return pair_near(m, d, p); });

  for (int start = 0; start < ncand; start += B::chunk) {
    const int n = ncand - start < B::chunk ? ncand - start : B::chunk;

    // two points a pair
    for (int k : t.range(0, n)) {
      ContactPoint<Real> point[2];
      const int p = d.cand[start + k], hits = collide(m, d, p, point);
      const auto from = load3_wide<Real>(d.geom_xpos, d.geom_xpos_lo, 3 * m.pair_geom1[p]);
      for (int e = 0; e < 2; e++) {
        const int i = 2 * k + e;
        if (!(hits >> e & 1)) {
          d.stage_dist[i] = apart<Real>();
          continue;
        }
        d.stage_dist[i] = point[e].dist;
        store_wide<Real>(d.stage_pos, d.stage_pos_lo, 3 * i, from + widen(point[e].pos));
        store(d.stage_frame, 6 * i, point[e].normal);
        store(d.stage_frame, 6 * i + 3, point[e].tangent);
      }
    }
    t.sync();

    // slots in contact order, each world counting for itself
    if (auto lead = t.leader()) {
      for (int i = 0; i < 2 * n; i++) {
        const Real dist = d.stage_dist[i];
        for (int l : lanes(dist < apart<Real>())) {
          const int slot = d.ncon_need(0, l);
          d.ncon_need(0, l) = slot + 1;
          if (slot < d.nconmax) {
            d.stage_slot[i * B::width + l] = slot;
            d.ncon(0, l) = slot + 1;
          } else {
            d.stage_slot[i * B::width + l] = -1;
            const int status = d.status(0, l);
            d.status(0, l) = status | int(kContactsDropped);
          }
        }
      }
    }
    t.sync();

    for (int i : t.range(0, 2 * n)) {
      const Real dist = d.stage_dist[i];
      const auto touch = dist < apart<Real>();
      if (!any(touch)) continue;
      const Vec3<Real> pos = load3<Real>(d.stage_pos, 3 * i);
      Vec3<Real> low{0, 0, 0};
      if constexpr (!is_wide<Real>) low = load3<Real>(d.stage_pos_lo, 3 * i);
      const Mat3<Real> frame = make_frame(load3<Real>(d.stage_frame, 6 * i), load3<Real>(d.stage_frame, 6 * i + 3));
      for (int l : lanes(touch)) {
        const int slot = d.stage_slot[i * B::width + l];
        if (slot < 0) continue;
        d.con_pair(slot, l) = d.cand[start + i / 2];
        put<B>(d.con_dist, slot, l, dist);
        put<B>(d.con_pos, 3 * slot, l, pos.x);
        put<B>(d.con_pos, 3 * slot + 1, l, pos.y);
        put<B>(d.con_pos, 3 * slot + 2, l, pos.z);
        put<B>(d.con_pos_lo, 3 * slot, l, low.x);
        put<B>(d.con_pos_lo, 3 * slot + 1, l, low.y);
        put<B>(d.con_pos_lo, 3 * slot + 2, l, low.z);
        for (int k = 0; k < 9; k++) put<B>(d.con_frame, 9 * slot + k, l, frame.m[k]);
      }
    }
    t.sync();
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
