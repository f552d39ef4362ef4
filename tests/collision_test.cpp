// mj_collision: each pair of geom types against MuJoCo in random and degenerate poses; order, overflow, independence of lanes.
#include "kernels/collision.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/check/team.h"
#include "catch.h"
#include "model/compile.h"
#include "scratch.h"

using namespace batchsim;

namespace {

struct Mujoco {
  mjModel* m;
  mjData* d;
  explicit Mujoco(const std::string& xml) {
    char error[1000] = "";
    std::unique_ptr<mjSpec, void (*)(mjSpec*)> spec(mj_parseXMLString(xml.c_str(), nullptr, error, sizeof(error)), mj_deleteSpec);
    INFO(error << "\n" << xml);
    REQUIRE(spec);
    m = mj_compile(spec.get(), nullptr);
    REQUIRE(m);
    d = mj_makeData(m);
  }
  ~Mujoco() {
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  Mujoco(const Mujoco&) = delete;
  void collide() {
    mj_kinematics(m, d);
    mj_collision(m, d);
  }
};

using Rng = std::mt19937_64;
double uniform(Rng& rng, double a, double b) { return std::uniform_real_distribution<double>(a, b)(rng); }
double normal(Rng& rng) { return std::normal_distribution<double>()(rng); }
bool chance(Rng& rng, double p) { return uniform(rng, 0, 1) < p; }

void random_quat(Rng& rng, double* q) {
  for (int i = 0; i < 4; i++) q[i] = normal(rng);
  mju_normalize4(q);
}

// turns q by an angle about a random axis
void turn(Rng& rng, double* q, double angle) {
  double axis[3] = {normal(rng), normal(rng), normal(rng)}, by[4], out[4];
  mju_normalize3(axis);
  mju_axisAngle2Quat(by, axis, angle);
  mju_mulQuat(out, by, q);
  mju_copy4(q, out);
}

template <class B>
void load_lane(Scratch<B>& s, int l, const mjModel* m, const mjData* d) {
  set_row<B>(s.d.geom_xpos, s.d.geom_xpos_lo, l, d->geom_xpos, 3 * m->ngeom);
  set_row<B>(s.d.geom_xmat, l, d->geom_xmat, 9 * m->ngeom);
  set_row<B>(s.d.xpos, s.d.xpos_lo, l, d->xpos, 3 * m->nbody);
  set_row<B>(s.d.xquat, s.d.xquat_lo, l, d->xquat, 4 * m->nbody);
}

template <class B>
void run(Scratch<B>& s) {
  Team<B> t;
  t.sync();  // what the test has read is of another phase
  collision(t, s.m, s.d);
  t.sync();
}

template <class B>
constexpr bool is_float = std::is_same_v<typename B::Scalar, float>;

double largest_difference(const std::vector<double>& a, const double* b) {
  double r = 0;
  for (std::size_t i = 0; i < a.size(); i++) r = std::isfinite(a[i]) ? std::max(r, std::abs(a[i] - b[i])) : HUGE_VAL;
  return r;
}

// how well defined a contact of geoms g1, g2 is: by what factor an error of the poses shows in its position and its frame
struct Condition {
  double pos = 1, frame = 1;
  bool parallel_unsure = false;
};
Condition condition(const mjModel* m, const mjData* d, const mjContact& c) {
  Condition r;
  const int g1 = c.geom[0], g2 = c.geom[1];
  const auto axis = [&](int g, double* z) {
    for (int k = 0; k < 3; k++) z[k] = d->geom_xmat[9 * g + 3 * k + 2];
  };
  double z1[3], z2[3], n[3];
  axis(g1, z1), axis(g2, z2);
  mju_cross(n, z1, z2);
  const double sine = mju_norm3(n);
  if (m->geom_type[g1] == mjGEOM_PLANE) {
    if (m->geom_type[g2] == mjGEOM_CAPSULE) r.frame = 1 / std::max(sine, 1e-30);  // the tangent is the axis
    return r;
  }
  // the normal is a difference of two points, divided by its length
  const double len = c.dist + m->geom_size[3 * g1] + m->geom_size[3 * g2];
  r.frame = 1 + 1 / std::max(len, 1e-30);
  if (m->geom_type[g1] == mjGEOM_CAPSULE) {
    // lines that cross at this angle: an error of the axes moves the nearest points along them by its inverse square, and the
    // line between these points by its inverse
    if (sine > 1e-5) r.pos = 1 / (sine * sine), r.frame += .1 / sine;
    r.parallel_unsure = std::abs(sine - 1e-4) < 2e-6;
  }
  r.pos += m->geom_size[3 * g1] * r.frame;
  // the second tangent is made from the normal and the y- or z-axis, which change places here
  if (std::abs(std::abs(c.frame[1]) - 0.5) < 1e-6 * r.frame) r.frame = 1e30;
  return r;
}

// lane l against MuJoCo's contacts; what is ill-defined is compared as far as it is defined
template <class B>
void compare(const Scratch<B>& s, int l, const mjModel* m, const mjData* d) {
  const double edge = is_float<B> ? 2e-6 : 1e-13;  // contacts this close to the threshold may be or not be

  std::vector<int> ours(s.d.ncon(0, l)), theirs;
  for (std::size_t i = 0; i < ours.size(); i++) ours[i] = static_cast<int>(i);
  for (int i = 0; i < d->ncon; i++) theirs.push_back(i);
  bool unsure = false;
  for (int i : theirs) unsure |= condition(m, d, d->contact[i]).parallel_unsure;
  if (unsure) return;

  // leave out what is on the edge of its margin
  const auto margin = [&](int g1, int g2) { return m->geom_margin[g1] + m->geom_margin[g2] + m->geom_gap[g1] + m->geom_gap[g2]; };
  std::erase_if(theirs, [&](int i) {
    const mjContact& c = d->contact[i];
    return std::abs(c.dist - margin(c.geom[0], c.geom[1])) < edge;
  });
  std::erase_if(ours, [&](int i) {
    const int p = s.d.con_pair(i, l);
    const double dist = get_row<B>(s.d.con_dist, l, 1, i)[0];
    return std::abs(dist - margin(s.m.pair_geom1[p], s.m.pair_geom2[p])) < edge;
  });
  REQUIRE(ours.size() == theirs.size());

  for (std::size_t k = 0; k < ours.size(); k++) {
    const int i = ours[k], p = s.d.con_pair(i, l);
    const mjContact& c = d->contact[theirs[k]];
    const Condition cond = condition(m, d, c);
    // what is left of capsules is the rounding of the model and of the results
    const bool refined = m->geom_type[c.geom[0]] == mjGEOM_CAPSULE;
    const double eps = is_float<B> ? refined ? 2e-7 : 2e-6 : 1e-10, rounding = is_float<B> ? refined ? 1e-7 : 1e-6 : 1e-15;
    const auto tol = [&](double factor) { return std::max(eps, rounding * factor); };
    INFO("contact " << i << " geoms " << c.geom[0] << " " << c.geom[1] << " dist " << c.dist << " cond " << cond.pos << " "
                    << cond.frame);
    REQUIRE(s.m.pair_geom1[p] == c.geom[0]);
    REQUIRE(s.m.pair_geom2[p] == c.geom[1]);
    CHECK(std::abs(get_row<B>(s.d.con_dist, l, 1, i)[0] - c.dist) <= eps);
    CHECK(largest_difference(get_row<B>(s.d.con_pos, l, 3, 3 * i), c.pos) <= tol(cond.pos));
    // an upright capsule's tangent is computed wide
    const bool upright = m->geom_type[c.geom[0]] == mjGEOM_PLANE && m->geom_type[c.geom[1]] == mjGEOM_CAPSULE && cond.frame > 40;
    const double of_frame = is_float<B> && upright ? std::max(eps, 1e-11 * cond.frame) : tol(4 * cond.frame);
    CHECK(largest_difference(get_row<B>(s.d.con_frame, l, 9, 9 * i), c.frame) <= of_frame);
  }
}

const char* type_name(int type) {
  return type == mjGEOM_PLANE ? "plane" : type == mjGEOM_SPHERE ? "sphere" : type == mjGEOM_CAPSULE ? "capsule" : "ellipsoid";
}

// two geoms of random sizes; the second one moves freely, the first one too unless it is a plane
std::string pair_xml(Rng& rng, int type1, int type2) {
  std::ostringstream xml;
  const auto geom = [&](int type) {
    xml << "<geom type='" << type_name(type) << "' margin='" << (chance(rng, .5) ? 0 : uniform(rng, 0, .02)) << "' gap='"
        << (chance(rng, .5) ? 0 : uniform(rng, 0, .02)) << "' size='" << uniform(rng, .02, .2) << " " << uniform(rng, .01, .5)
        << " " << uniform(rng, .02, .2) << "'/>";
  };
  xml << "<mujoco><worldbody>";
  if (type1 == mjGEOM_PLANE) {
    geom(type1);
  } else {
    xml << "<body><freejoint/>", geom(type1), xml << "</body>";
  }
  xml << "<body><freejoint/>", geom(type2), xml << "</body></worldbody></mujoco>";
  return xml.str();
}

// random, aligned, nearly aligned and coinciding poses
void pose_pair(Rng& rng, mjModel* m, mjData* d) {
  const bool plane = m->geom_type[0] == mjGEOM_PLANE;
  double first[7] = {uniform(rng, -2, 2), uniform(rng, -2, 2), uniform(rng, -2, 2)};
  random_quat(rng, first + 3);
  if (chance(rng, .1)) mju_unit4(first + 3);
  double* second = d->qpos + (plane ? 0 : 7);

  random_quat(rng, second + 3);
  if (chance(rng, .5)) {  // about parallel, either way round
    mju_copy4(second + 3, first + 3);
    if (chance(rng, .5)) {
      const double half_turn[4] = {0, 1, 0, 0};
      mju_mulQuat(second + 3, first + 3, half_turn);
    }
    if (chance(rng, .8)) turn(rng, second + 3, std::pow(10, uniform(rng, -9, 0)));
  }

  double normal_of_plane[3];
  const double* size = m->geom_size + 3;
  const double up[3] = {0, 0, 1};
  mju_rotVecQuat(normal_of_plane, up, first + 3);
  if (plane) {
    const double reach = m->geom_rbound[1] * uniform(rng, -.2, 1.2);
    double side[3] = {normal(rng), normal(rng), normal(rng)};
    for (int k = 0; k < 3; k++) second[k] = first[k] + reach * normal_of_plane[k];
    mju_addToScl3(second, normal_of_plane, -mju_dot3(side, normal_of_plane));
    mju_addTo3(second, side);
    mju_copy3(m->geom_pos, first);
    mju_copy4(m->geom_quat, first + 3);
  } else {
    const double radii = m->geom_size[0] + size[0], spread = m->geom_rbound[0] + m->geom_rbound[1];
    double off[3] = {normal(rng), normal(rng), normal(rng)};
    mju_normalize3(off);
    const double r = chance(rng, .5) ? uniform(rng, 0, 1.3) * radii : uniform(rng, 0, 1.1) * spread;
    mju_scl3(off, off, r);
    const double axis[3] = {0, 0, 1};
    double slide[3];
    mju_rotVecQuat(slide, axis, first + 3);
    mju_addToScl3(off, slide, uniform(rng, -1, 1) * spread * .5);
    if (chance(rng, .02)) mju_zero3(off);
    mju_add3(second, first, off);
    mju_copy(d->qpos, first, 7);
  }
}

void check_races() {
  const RaceReport races = take_races();
  INFO((races.first.empty() ? "" : races.first[0]));
  CHECK(races.count == 0);
}

template <class B>
void check_pair_type(int type1, int type2, int nmodel, int ntile, unsigned seed) {
  Rng rng(seed + 100 * type1 + 10 * type2);
  int ncon = 0;
  for (int k = 0; k < nmodel; k++) {
    Mujoco mj(pair_xml(rng, type1, type2));
    const FlatModel flat = compile(mj.m);
    REQUIRE(flat.npair == 1);
    Scratch<B> s(flat, 4, 4);
    for (int i = 0; i < ntile; i++) {
      std::vector<std::vector<double>> qpos(B::width), pos(B::width), quat(B::width);
      for (int l = 0; l < B::width; l++) {
        pose_pair(rng, mj.m, mj.d);
        mj_kinematics(mj.m, mj.d);
        load_lane(s, l, mj.m, mj.d);
        qpos[l].assign(mj.d->qpos, mj.d->qpos + mj.m->nq);
        pos[l].assign(mj.m->geom_pos, mj.m->geom_pos + 3);
        quat[l].assign(mj.m->geom_quat, mj.m->geom_quat + 4);
      }
      run(s);
      for (int l = 0; l < B::width; l++) {
        mju_copy(mj.d->qpos, qpos[l].data(), mj.m->nq);
        mju_copy3(mj.m->geom_pos, pos[l].data());
        mju_copy4(mj.m->geom_quat, quat[l].data());
        mj.collide();
        ncon += mj.d->ncon;
        INFO(type_name(type1) << " " << type_name(type2) << " model " << k << " tile " << i << " lane " << l);
        compare(s, l, mj.m, mj.d);
      }
    }
    REQUIRE(s.damaged() == "");
    check_races();
  }
  CHECK(ncon > nmodel * ntile * B::width / 8);  // the poses are worth comparing
}

// several bodies of several geoms on a plane
std::string pile_xml(Rng& rng, int nbody) {
  std::ostringstream xml;
  xml << "<mujoco><worldbody><geom type='plane' size='5 5 .1' margin='.005'/>";
  const auto capsule = [&] {
    xml << "<geom type='" << (chance(rng, .6) ? "capsule" : "sphere") << "' contype='1' conaffinity='1' size='"
        << uniform(rng, .04, .1) << " " << uniform(rng, .05, .2) << "' pos='" << normal(rng) * .1 << " " << normal(rng) * .1 << " "
        << normal(rng) * .1 << "' euler='" << uniform(rng, -90, 90) << " " << uniform(rng, -90, 90) << " 0'/>";
  };
  for (int b = 0; b < nbody; b++) {
    xml << "<body pos='" << normal(rng) * .2 << " " << normal(rng) * .2 << " " << uniform(rng, 0, .6) << "'><freejoint/>";
    for (int g = 0; g < 1 + b % 3; g++) capsule();
    // touches the plane only: pairs of ellipsoids are not for this stage
    xml << "<geom type='ellipsoid' contype='0' conaffinity='0' size='.1 .05 .2'/><body pos='.2 0 0'><joint axis='0 1 0'/>";
    capsule();
    xml << "</body></body>";
  }
  xml << "</worldbody></mujoco>";
  return xml.str();
}

void pose_pile(Rng& rng, const mjModel* m, mjData* d) {
  mj_resetData(m, d);
  for (int j = 0; j < m->njnt; j++) {
    double* q = d->qpos + m->jnt_qposadr[j];
    if (m->jnt_type[j] == mjJNT_FREE) {
      for (int k = 0; k < 3; k++) q[k] += normal(rng) * .1;
      random_quat(rng, q + 3);
    } else {
      q[0] = uniform(rng, -3, 3);
    }
  }
}

template <class B>
struct Pile {
  Mujoco mj;
  FlatModel flat;
  std::vector<std::vector<double>> qpos;

  explicit Pile(Rng& rng, int nbody = 6) : mj(pile_xml(rng, nbody)), flat(compile(mj.m)), qpos(B::width) {}
  void pose(Rng& rng, Scratch<B>& s) {
    for (int l = 0; l < B::width; l++) {
      pose_pile(rng, mj.m, mj.d);
      mj_kinematics(mj.m, mj.d);
      load_lane(s, l, mj.m, mj.d);
      qpos[l].assign(mj.d->qpos, mj.d->qpos + mj.m->nq);
    }
  }
  // the pose of lane l once more
  void load(Scratch<B>& s, int l, int to) {
    mju_copy(mj.d->qpos, qpos[l].data(), mj.m->nq);
    mj_kinematics(mj.m, mj.d);
    load_lane(s, to, mj.m, mj.d);
  }
  void collide(int l) {
    mju_copy(mj.d->qpos, qpos[l].data(), mj.m->nq);
    mj.collide();
  }
};

// all that collision leaves in a lane, bit by bit
template <class B>
std::vector<double> result(const Scratch<B>& s, int l) {
  const int n = s.d.ncon(0, l);
  std::vector<double> r{double(n), double(s.d.ncon_need(0, l)), double(s.d.status(0, l))};
  for (int i = 0; i < n; i++) r.push_back(s.d.con_pair(i, l));
  for (const std::vector<double>& row :
       {get_row<B>(s.d.con_dist, l, n), get_row<B>(s.d.con_pos, l, 3 * n), get_row<B>(s.d.con_frame, l, 9 * n)})
    r.insert(r.end(), row.begin(), row.end());
  return r;
}

}  // namespace

#ifndef COLLISION_TEST_TILES
#define COLLISION_TEST_TILES 100
#endif
#define BACKENDS Check, Exact<double>, (Packs<double, 4>), (Packs<float, 8>)

TEMPLATE_TEST_CASE("collision functions equal MuJoCo's", "[collision]", BACKENDS) {
  const int n = COLLISION_TEST_TILES * 8 / TestType::width;
  check_pair_type<TestType>(mjGEOM_PLANE, mjGEOM_SPHERE, 20, n, 1);
  check_pair_type<TestType>(mjGEOM_PLANE, mjGEOM_CAPSULE, 20, n, 2);
  check_pair_type<TestType>(mjGEOM_PLANE, mjGEOM_ELLIPSOID, 20, n, 3);
  check_pair_type<TestType>(mjGEOM_SPHERE, mjGEOM_SPHERE, 20, n, 4);
  check_pair_type<TestType>(mjGEOM_SPHERE, mjGEOM_CAPSULE, 20, n, 5);
  check_pair_type<TestType>(mjGEOM_CAPSULE, mjGEOM_CAPSULE, 40, n, 6);
}

TEMPLATE_TEST_CASE("contacts of a pile are MuJoCo's, in its order", "[collision]", BACKENDS) {
  Rng rng(11);
  for (int k = 0; k < 8; k++) {
    Pile<TestType> pile(rng);
    Scratch<TestType> s(pile.flat, 300, 4);
    for (int i = 0; i < 20; i++) {
      pile.pose(rng, s);
      run(s);
      for (int l = 0; l < TestType::width; l++) {
        pile.collide(l);
        INFO("pile " << k << " pose " << i << " lane " << l);
        compare(s, l, pile.mj.m, pile.mj.d);
        CHECK(s.d.ncon(0, l) == s.d.ncon_need(0, l));
        CHECK(s.d.status(0, l) == 0);
      }
    }
    CHECK(s.damaged() == "");
    check_races();
  }
}

TEMPLATE_TEST_CASE("contacts over nconmax are counted and dropped from the end", "[collision]", BACKENDS) {
  Rng rng(12);
  Pile<TestType> pile(rng, 8);
  Scratch<TestType> ample(pile.flat, 400, 4);
  int dropped = 0, kept = 0;
  for (int nconmax : {0, 1, 3, 12, 17}) {
    Scratch<TestType> tight(pile.flat, nconmax, 4);
    for (int i = 0; i < 20; i++) {
      pile.pose(rng, ample);
      for (int l = 0; l < TestType::width; l++) {
        pile.load(tight, l, l);
        set_element(tight.d.status.p[l], int(kBadControl));  // others' bits stay
      }
      run(ample);
      run(tight);
      for (int l = 0; l < TestType::width; l++) {
        const int need = ample.d.ncon(0, l), n = std::min(need, nconmax);
        CHECK(tight.d.ncon(0, l) == n);
        CHECK(tight.d.ncon_need(0, l) == need);
        CHECK(tight.d.status(0, l) == int(kBadControl | (need > nconmax ? kContactsDropped : 0u)));
        (need > nconmax ? dropped : kept)++;
        for (int c = 0; c < n; c++) CHECK(tight.d.con_pair(c, l) == ample.d.con_pair(c, l));
        CHECK(get_row<TestType>(tight.d.con_dist, l, n) == get_row<TestType>(ample.d.con_dist, l, n));
        CHECK(get_row<TestType>(tight.d.con_frame, l, 9 * n) == get_row<TestType>(ample.d.con_frame, l, 9 * n));
      }
      REQUIRE(tight.damaged() == "");
      check_races();
    }
  }
  CHECK(dropped > 10);
  CHECK(kept > 10);
}

TEST_CASE("a world's contacts do not depend on its neighbours", "[collision]") {
  using B = Packs<float, 8>;
  Rng rng(13);
  Pile<B> pile(rng);
  Scratch<B> s(pile.flat, 300, 4), alone(pile.flat, 300, 4);
  for (int i = 0; i < 20; i++) {
    pile.pose(rng, s);
    run(s);
    for (int l = 0; l < B::width; l++) {
      // the same world in another lane, beside NaN
      alone.poison();
      const int to = (l + 3) % B::width;
      pile.load(alone, l, to);
      run(alone);
      CHECK(result(alone, to) == result(s, l));
      for (int k = 0; k < B::width; k++)
        if (k != to) CHECK(alone.d.ncon_need(0, k) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("disabled contacts are none", "[collision]", Check, Exact<double>) {
  Rng rng(14);
  Pile<TestType> pile(rng);
  Scratch<TestType> s(pile.flat, 300, 4);
  pile.pose(rng, s);
  for (int flag : {mjDSBL_CONSTRAINT, mjDSBL_CONTACT}) {
    s.m.disableflags = flag;
    set_element(s.d.ncon.p[0], 7);
    run(s);
    for ([[maybe_unused]] int member : Team<TestType>{}.range(0, 2)) {  // each of a team may rely on it
      CHECK(int(s.d.ncon(0, 0)) == 0);
      CHECK(int(s.d.ncon_need(0, 0)) == 0);
    }
    check_races();
  }
}
