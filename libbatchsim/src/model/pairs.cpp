// Candidate geom pairs: all that MuJoCo's filters leave, in the order of its contacts, with the parameters of their contacts.
//
// The filters and the mixing are those of engine_collision_driver.c: mj_broadphase, filterBodyPair, filterCollisionPair,
// mj_contactParam, mj_setContact. They depend on the model alone, so nothing of them is left for a step.
#include <algorithm>
#include <array>
#include <cstdint>

#include "batchsim/error.h"
#include "kernels/collision/pair_func.h"
#include "model/compile.h"

namespace batchsim {
namespace {

// -1: not implemented; types ascending
int pair_func(int type1, int type2) {
  switch (type1) {
    case mjGEOM_PLANE:
      return type2 == mjGEOM_SPHERE      ? kPlaneSphere
             : type2 == mjGEOM_CAPSULE   ? kPlaneCapsule
             : type2 == mjGEOM_ELLIPSOID ? kPlaneEllipsoid
                                         : -1;
    case mjGEOM_SPHERE: return type2 == mjGEOM_SPHERE ? kSphereSphere : type2 == mjGEOM_CAPSULE ? kSphereCapsule : -1;
    case mjGEOM_CAPSULE: return type2 == mjGEOM_CAPSULE ? kCapsuleCapsule : -1;
    default: return -1;
  }
}

// MuJoCo has no function for these: it makes no contacts
bool never_collide(int type1, int type2) { return type2 <= mjGEOM_HFIELD && type1 <= mjGEOM_HFIELD; }

bool bitmask_passes(const mjModel* m, int g1, int g2) {
  return (m->geom_contype[g1] & m->geom_conaffinity[g2]) || (m->geom_contype[g2] & m->geom_conaffinity[g1]);
}

// filterBodyPair, without sleep
bool bodies_pass(const mjModel* m, int b1, int b2) {
  const int weld1 = m->body_weldid[b1], weld2 = m->body_weldid[b2];
  if (weld1 == weld2) return false;
  if (!m->body_dofnum[weld1] && !m->body_dofnum[weld2]) return false;  // neither moves
  if (m->opt.disableflags & mjDSBL_FILTERPARENT) return true;
  const int parent1 = m->body_weldid[m->body_parentid[weld1]], parent2 = m->body_weldid[m->body_parentid[weld2]];
  return !(weld1 && weld2 && (weld1 == parent2 || weld2 == parent1));
}

// calls visit(g1, g2), types ascending, in MuJoCo's contact order: body pairs ascending; within one, geoms ascending.
// With the midphase on, MuJoCo sorts the contacts of two bodies after it has swapped geoms so that types ascend.
template <class Visit>
void for_each_pair(const mjModel* m, Visit visit) {
  std::vector<uint32_t> excluded(m->exclude_signature, m->exclude_signature + m->nexclude);
  std::sort(excluded.begin(), excluded.end());
  std::vector<int> bodies;
  for (int i = 0; i < m->nbody; i++)
    for (int g = m->body_geomadr[i], end = g + m->body_geomnum[i]; m->body_geomnum[i] && g < end; g++)
      if (m->geom_contype[g] || m->geom_conaffinity[g]) {
        bodies.push_back(i);
        break;
      }
  std::vector<std::array<int, 2>> found;
  for (size_t a = 0; a < bodies.size(); a++)
    for (size_t b = a + 1; b < bodies.size(); b++) {
      const int b1 = bodies[a], b2 = bodies[b];
      if (!bodies_pass(m, b1, b2)) continue;
      if (std::binary_search(excluded.begin(), excluded.end(), (static_cast<uint32_t>(b1) << 16) + b2)) continue;
      found.clear();
      for (int i = m->body_geomadr[b1]; i < m->body_geomadr[b1] + m->body_geomnum[b1]; i++)
        for (int j = m->body_geomadr[b2]; j < m->body_geomadr[b2] + m->body_geomnum[b2]; j++) {
          if (!bitmask_passes(m, i, j)) continue;
          const bool swap = m->geom_type[i] > m->geom_type[j];
          const int g1 = swap ? j : i, g2 = swap ? i : j;
          if (!never_collide(m->geom_type[g1], m->geom_type[g2])) found.push_back({g1, g2});
        }
      if (!(m->opt.disableflags & mjDSBL_MIDPHASE)) std::sort(found.begin(), found.end());
      for (auto [g1, g2] : found) visit(g1, g2);
    }
}

struct Mixed {
  int dim;
  double solref[2], solimp[5], friction[5];
};

// mj_contactParam
Mixed mix(const mjModel* m, int g1, int g2) {
  Mixed r;
  double friction[3];
  const int p1 = m->geom_priority[g1], p2 = m->geom_priority[g2];
  if (p1 != p2) {
    const int g = p1 > p2 ? g1 : g2;
    r.dim = m->geom_condim[g];
    std::copy_n(m->geom_solref + mjNREF * g, mjNREF, r.solref);
    std::copy_n(m->geom_solimp + mjNIMP * g, mjNIMP, r.solimp);
    std::copy_n(m->geom_friction + 3 * g, 3, friction);
  } else {
    r.dim = std::max(m->geom_condim[g1], m->geom_condim[g2]);
    const double s1 = m->geom_solmix[g1], s2 = m->geom_solmix[g2];
    const double w = s1 >= mjMINVAL && s2 >= mjMINVAL ? s1 / (s1 + s2)
                     : s1 < mjMINVAL && s2 < mjMINVAL ? 0.5
                     : s1 < mjMINVAL                  ? 0.0
                                                      : 1.0;
    const double *ref1 = m->geom_solref + mjNREF * g1, *ref2 = m->geom_solref + mjNREF * g2;
    const double *imp1 = m->geom_solimp + mjNIMP * g1, *imp2 = m->geom_solimp + mjNIMP * g2;
    const bool standard = ref1[0] > 0 && ref2[0] > 0;
    for (int i = 0; i < mjNREF; i++) r.solref[i] = standard ? w * ref1[i] + (1 - w) * ref2[i] : std::min(ref1[i], ref2[i]);
    for (int i = 0; i < mjNIMP; i++) r.solimp[i] = w * imp1[i] + (1 - w) * imp2[i];
    for (int i = 0; i < 3; i++) friction[i] = std::max(m->geom_friction[3 * g1 + i], m->geom_friction[3 * g2 + i]);
  }
  constexpr int unpack[5] = {0, 0, 1, 2, 2};
  for (int i = 0; i < 5; i++) r.friction[i] = std::max(mjMINMU, friction[unpack[i]]);
  return r;
}

template <class T>
void append(std::vector<double>& to, const T* from, int n) {
  to.insert(to.end(), from, from + n);
}

}  // namespace

void build_pairs(const mjModel* m, FlatModel& f) {
  long count = 0;
  for_each_pair(m, [&](int, int) { count++; });
  if (count > kMaxPair)
    throw Error(Error::kCapacity, "the model has " + std::to_string(count) + " candidate geom pairs after all filters (" +
                                      std::to_string(count * 170 / 1000000) + " MB); batchsim takes " + std::to_string(kMaxPair) +
                                      ". Filter with contype and conaffinity, or exclude body pairs.");
  f.npair = static_cast<int>(count);
  for (auto* v : {&f.pair_geom1, &f.pair_geom2, &f.pair_func, &f.pair_dim, &f.pair_body1, &f.pair_body2}) v->reserve(count);
  for (auto* v : {&f.pair_margin, &f.pair_gap}) v->reserve(count);
  for (auto* v : {&f.pair_solref, &f.pair_solreffriction, &f.pair_invweight}) v->reserve(2 * count);
  for (auto* v : {&f.pair_friction, &f.pair_solimp}) v->reserve(5 * count);

  for_each_pair(m, [&](int g1, int g2) {
    const Mixed c = mix(m, g1, g2);
    const int b1 = m->geom_bodyid[g1], b2 = m->geom_bodyid[g2];
    f.pair_geom1.push_back(g1);
    f.pair_geom2.push_back(g2);
    f.pair_func.push_back(pair_func(m->geom_type[g1], m->geom_type[g2]));
    f.pair_dim.push_back(c.dim);
    f.pair_body1.push_back(b1);
    f.pair_body2.push_back(b2);
    f.pair_margin.push_back(m->geom_margin[g1] + m->geom_margin[g2]);
    f.pair_gap.push_back(m->geom_gap[g1] + m->geom_gap[g2]);
    append(f.pair_friction, c.friction, 5);
    append(f.pair_solref, c.solref, 2);
    const double none[2] = {0, 0};  // only explicit pairs have one
    append(f.pair_solreffriction, none, 2);
    append(f.pair_solimp, c.solimp, 5);
    for (int k = 0; k < 2; k++) f.pair_invweight.push_back(m->body_invweight0[2 * b1 + k] + m->body_invweight0[2 * b2 + k]);
  });
}

}  // namespace batchsim
