// Scenes and comparisons with MuJoCo: that they are what they say, and that a comparison fails when what it compares differs.
#include <mujoco/mjxmacro.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "common/case_replay.h"
#include "common/models.h"
#include "common/peers.h"
#include "common/stats.h"
#include "common/validate.h"
#include "error_of.h"
#include "tolerances.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

// a capsule that falls on its side and comes to rest, with a hinged tail
constexpr const char* kCapsule = R"(
<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="log" pos="0 0 .3" euler="20 40 0">
      <freejoint/>
      <geom type="capsule" size=".05 .1" mass="1"/>
      <body pos=".1 0 0">
        <joint name="tail" axis="0 1 0" range="-60 60" damping=".01" armature=".001"/>
        <geom type="capsule" fromto="0 0 0 .15 0 0" size=".02" mass=".1"/>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="tail" kp="2" ctrlrange="-1 1"/></actuator>
</mujoco>)";

std::string with(std::string xml, const std::string& from, const std::string& to) {
  xml.replace(xml.find(from), from.size(), to);
  return xml;
}

Scene scene_of(const char* model, Situation s, SceneOptions o) {
  const Model m = Model::from_file(find_model(model));
  return make_scene(situation_model(m.mjmodel(), s).get(), s, o);
}

SceneOptions scene_options(int nworld, double seconds, uint64_t seed, int nthread) {
  SceneOptions o;
  o.nworld = nworld, o.seconds = seconds, o.seed = seed, o.nthread = nthread;
  return o;
}

ValidateOptions capsule_options(Precision p) {
  ValidateOptions o;
  o.precision = p;
  o.seconds = 1;
  return o;
}

}  // namespace

TEST_CASE("a scene's worlds do not depend on their number, nor on threads") {
  for (Situation s : {Situation::free, Situation::stand, Situation::push, Situation::heap}) {
    CAPTURE(name_of(s));
    const Scene a = scene_of("stick.xml", s, scene_options(5, 2, 3, 1)), b = scene_of("stick.xml", s, scene_options(3, 2, 3, 2));
    const Scene c = scene_of("stick.xml", s, scene_options(3, 2, 4, 1)), chosen = selected(a, {0, 1, 2});
    CHECK(chosen.qpos == b.qpos);
    CHECK(chosen.qvel == b.qvel);
    CHECK(chosen.warmstart == b.warmstart);
    CHECK(chosen.ctrl == b.ctrl);
    CHECK(chosen.push == b.push);
    const bool other_seed = c.qpos == b.qpos && c.qvel == b.qvel;
    CHECK(!other_seed);
  }
}

TEST_CASE("situations are what their names say") {
  const SceneOptions o = scene_options(6, 1.6, 1, 0);

  SECTION("standing bodies stand to the end of their window") {
    for (const char* model : {"stick.xml", "simple.xml"}) {
      CAPTURE(model);
      const Model m = Model::from_file(find_model(model));
      const Scene s = make_scene(m.mjmodel(), Situation::stand, o);
      Reference r(m.mjmodel(), s, 0);
      r.advance(s.nstep);
      for (int w = 0; w < s.nworld; w++) CHECK(s.stands(r.state(s.nstep, w) + r.layout().qpos));
    }
  }
  SECTION("free: no gravity, some turning") {
    const Model m = Model::from_file(find_model("stick.xml"));
    CHECK(situation_model(m.mjmodel(), Situation::free)->opt.gravity[2] == 0);
    const Scene s = scene_of("stick.xml", Situation::free, o);
    CHECK(s.qpos[2] == 3);
    CHECK(s.qvel[3] != 0);
  }
  SECTION("heap: limp, and lying") {
    const Model m = Model::from_file(find_model("stick.xml"));
    CHECK(situation_model(m.mjmodel(), Situation::heap)->actuator_gainprm[0] == 0);
    const Scene s = scene_of("stick.xml", Situation::heap, o);
    for (int w = 0; w < s.nworld; w++) CHECK(s.qpos[size_t(w) * s.nq + 2] < 0.5);
    CHECK(*std::max_element(s.ctrl.begin(), s.ctrl.end()) == 0);
  }
  SECTION("push: 120 N from 1.0 to 1.2 s and every 2.5 s, horizontal, on the thorax or torso") {
    const Model m = Model::from_file(find_model("simple.xml"));
    const Scene s = make_scene(m.mjmodel(), Situation::push, scene_options(2, 4, 1, 0));
    CHECK(s.push_body == m.body_id("thorax"));
    for (int step : {0, 199, 240, 699, 740}) CHECK(s.push_at(step, 0) == nullptr);
    for (int step : {200, 239, 700, 739}) {
      const double* f = s.push_at(step, 1);
      REQUIRE(f);
      CHECK(std::hypot(f[0], f[1]) == Approx(120));
      CHECK(f[2] == 0);
    }
    CHECK(s.push_at(200, 0)[0] != s.push_at(200, 1)[0]);
    CHECK(s.push_at(200, 0)[0] != s.push_at(700, 0)[0]);
  }
  SECTION("repeated worlds") {
    const Scene s = repeated(scene_of("stick.xml", Situation::stand, scene_options(2, 0.1, 1, 0)), 5);
    CHECK(s.nworld == 5);
    CHECK(std::equal(&s.qvel[4 * s.nv], &s.qvel[4 * s.nv] + s.nv, &s.qvel[0]));
    CHECK(std::equal(s.ctrl_at(4, 3), s.ctrl_at(4, 3) + s.nu, s.ctrl_at(4, 1)));
  }
  SECTION("what does not float is refused by the joint that is in the way") {
    const Model m = Model::from_xml("<mujoco><worldbody><body><joint name='a'/><geom size='.1'/></body></worldbody></mujoco>");
    const Thrown e = error_of([&] { make_scene(m.mjmodel(), Situation::stand, o); });
    CHECK(e.kind == Error::kInput);
    CHECK(e.has("first joint"));
    CHECK(error_of([] { situation_named("sit"); }).has("allowed are"));
  }
}

TEST_CASE("open loop in double agrees with MuJoCo, and not with another model") {
  const Model m = Model::from_xml(kCapsule);
  const ValidateOptions o = capsule_options(Precision::f64);
  Sides same(m.mjmodel(), o, 1);
  const OpenLoop good = validate_open_loop(same, o);
  CHECK(good.good);
  CHECK(good.fields.states() >= 40);
  CHECK(good.fields.states_with_contact() > 0);
  CHECK(good.reached < tolerances::kJointF64);

  const Model heavier = Model::from_xml(with(kCapsule, "mass=\"1\"", "mass=\"1.00001\""));
  Sides other(m.mjmodel(), o, 1, heavier.mjmodel());
  const OpenLoop bad = validate_open_loop(other, o);
  CHECK(!bad.good);
  CHECK(!bad.fields.good());
  CHECK(!bad.joints_good);
  CHECK(bad.left == std::vector<int>{0});
}

TEST_CASE("open loop in float agrees with MuJoCo, and not with another model") {
  const Model m = Model::from_xml(kCapsule);
  ValidateOptions o = capsule_options(Precision::f32);
  o.seconds = 0.1;  // in the air: a landing enlarges rounding
  Sides same(m.mjmodel(), o, 1);
  const OpenLoop good = validate_open_loop(same, o);
  CHECK(good.promised);
  CHECK(good.good);

  const Model stiffer = Model::from_xml(with(kCapsule, "kp=\"2\"", "kp=\"2.001\""));
  Sides other(m.mjmodel(), o, 1, stiffer.mjmodel());
  CHECK(!validate_open_loop(other, o).good);
}

TEST_CASE("step by step: agrees with MuJoCo; what differs without a contact that differs is a bug") {
  const Model m = Model::from_xml(kCapsule);
  const ValidateOptions o = capsule_options(Precision::f32);
  Sides same(m.mjmodel(), o, 1);
  const Resync good = validate_resync(same, o);
  CHECK(good.good);
  CHECK(good.joint.size() == 200);
  CHECK(good.floor.size() == 200);
  CHECK(good.bugs == 0);

  const Model stiffer = Model::from_xml(with(kCapsule, "kp=\"2\"", "kp=\"2.1\""));
  Sides other(m.mjmodel(), o, 1, stiffer.mjmodel());
  const Resync bad = validate_resync(other, o);
  CHECK(!bad.good);
  CHECK(bad.bugs > 0);
}

TEST_CASE("slots that do not suffice are out of tolerance") {
  const Model m = Model::from_xml(kCapsule);
  ValidateOptions o = capsule_options(Precision::f64);
  o.nconmax = 1;
  Sides s(m.mjmodel(), o, 1);
  const OpenLoop r = validate_open_loop(s, o);
  CHECK(r.report.overflow());
  CHECK(!r.good);
}

TEST_CASE("the table of fields sees each of them change") {
  const Model m = Model::from_xml(kCapsule);
  const mjModel* mj = m.mjmodel();
  const DataPtr a = make_data(mj), b = make_data(mj);
  for (mjData* d : {a.get(), b.get()}) {
    mju_copy(d->qpos, mj->qpos0, mj->nq);
    for (int i = 0; i < 60; i++) mj_step(mj, d);
    mj_forward(mj, d);
    // as an export has it: the state in which the forces are
    for (int r = 0; r < d->nefc; r++) d->efc_state[r] = d->efc_force[r] > 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_SATISFIED;
  }
  REQUIRE(a->ncon > 0);
  FieldTable same(m);
  same.compare(mj, a.get(), b.get(), "");
  CHECK(same.good());
  CHECK(same.worst_of_tolerance() == 0);

  int changed = 0;
  const auto bad_field = [&](const std::string& name) {
    FieldTable t(m);
    t.compare(mj, a.get(), b.get(), "here");
    for (const FieldError& f : t.fields())
      if (f.name == name) return !f.good() && !t.good() && f.where.find("here") == 0;
    return true;  // not promised
  };
  const auto change = [&](const char* name, auto* data, size_t n) {
    if (!n || !data) return;
    using T = std::remove_pointer_t<decltype(data)>;
    if constexpr (std::is_same_v<T, mjtNum> || std::is_same_v<T, int>) {
      const T old = data[0];
      data[0] = std::is_same_v<T, int> ? old + 1 : old + T(1e-3) * (1 + std::abs(old));
      CAPTURE(name);
      CHECK(bad_field(name));
      data[0] = std::is_same_v<T, mjtNum> ? T(NAN) : old;
      if (std::is_same_v<T, mjtNum>) CHECK(bad_field(name));
      data[0] = old;
      changed++;
    }
  };
#define X(type, name, nr, nc) change(#name, a->name, size_t(mj->nr) * (nc));
  MJDATA_POINTERS
#undef X
  const int nefc = a->nefc;
#define E(name) change(#name, a->name, nefc);
  // clang-format off
  E(efc_type) E(efc_id) E(efc_J) E(efc_pos) E(efc_margin) E(efc_frictionloss) E(efc_diagA) E(efc_KBIP) E(efc_D) E(efc_R) E(efc_vel)
  E(efc_aref) E(efc_force) E(efc_state)
  // clang-format on
#undef E
          CHECK(changed > 50);
  change("con_dist", &a->contact[0].dist, 1);
  change("con_pos", a->contact[0].pos, 1);
  change("con_frame", a->contact[0].frame, 1);
  change("contact.friction", a->contact[0].friction, 1);
  change("contact.geom", a->contact[0].geom, 1);
  change("contact.efc_address", &a->contact[0].efc_address, 1);
}

TEST_CASE("differences of contacts and active rows are named") {
  const Model m = Model::from_xml(kCapsule);
  const mjModel* mj = m.mjmodel();
  const DataPtr a = make_data(mj), b = make_data(mj);
  for (mjData* d : {a.get(), b.get()}) {
    for (int i = 0; i < 200; i++) mj_step(mj, d);
    mj_forward(mj, d);
  }
  REQUIRE(a->ncon > 1);
  CHECK(contact_difference(mj, a.get(), b.get()).empty());
  a->efc_force[a->nefc - 1] = b->efc_force[a->nefc - 1] > 0 ? 0 : 1;
  CHECK(contact_difference(mj, a.get(), b.get()).find("active set: 1 row") == 0);
  a->qpos[2] += 0.1;
  mj_forward(mj, a.get());
  CHECK(contact_difference(mj, a.get(), b.get()).find("ncon 0") == 0);
}

TEST_CASE("pose errors: hinges, and the root where there are none") {
  const Model m = Model::from_xml(kCapsule);
  const PoseMap pose(m.mjmodel());
  std::vector<double> a(m.mjmodel()->qpos0, m.mjmodel()->qpos0 + m.nq()), b = a;
  b[7] += 1e-4, b[0] += 1e-2;
  for (int i = 3; i < 7; i++) b[i] = -b[i];  // the same rotation
  CHECK(pose.error(a.data(), b.data()).joint == Approx(1e-4));
  CHECK(pose.error(a.data(), b.data()).pos == Approx(1e-2));
  CHECK(pose.error(a.data(), b.data()).rot == Approx(0).margin(1e-12));
  a[7] = NAN;
  CHECK(std::isinf(pose.error(a.data(), b.data()).joint));

  const Model ball = Model::from_xml("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>");
  std::vector<double> p(ball.mjmodel()->qpos0, ball.mjmodel()->qpos0 + 7), q = p;
  q[2] += 1e-5;
  CHECK(PoseMap(ball.mjmodel()).error(p.data(), q.data()).joint == Approx(1e-5));
}

TEST_CASE("a recorded case is replayed, and a changed record is noticed") {
  namespace fs = std::filesystem;
  using nlohmann::json;
  const fs::path dir = fs::temp_directory_path() / ("batchsim_case_" + std::to_string(::getpid()));
  fs::create_directories(dir / "models");
  fs::create_directories(dir / "expected");
  const struct Remove {
    fs::path path;
    ~Remove() { fs::remove_all(path); }
  } remove{dir};
  std::ofstream(dir / "models" / "log.xml") << kCapsule;
  const json push = {{"body", "log"}, {"wrench", {0.5, 0, 0, 0, 0, 0.01}}, {"from", 5}, {"to", 10}};
  const json edit = {{"field", "body_mass"}, {"obj", "body"}, {"name", "log"}, {"scale", 2.0}, {"setconst", true}};
  const json run = {{"id", "log@heavy"}, {"model", "log"}, {"steps", 20}, {"ctrl_scale", 0.5}, {"push", push}, {"edits", {edit}}};
  std::ofstream(dir / "cases.json") << json{{"runs", {run}}};

  // what MuJoCo does with it
  const Model m = Model::from_xml(kCapsule);
  const ModelPtr mj = copy_model(m.mjmodel());
  const int body = m.body_id("log");
  mj->body_mass[body] *= 2;
  const DataPtr d = make_data(mj.get());
  mj_setConst(mj.get(), d.get());
  mj_resetData(mj.get(), d.get());
  json records = json::array();
  for (int k = 1; k <= 20; k++) {
    d->ctrl[0] = 0.5 * std::sin(2 * M_PI * 0.7 * (k - 1) * mj->opt.timestep);
    d->xfrc_applied[6 * body] = k >= 5 && k < 10 ? 0.5 : 0;
    d->xfrc_applied[6 * body + 5] = k >= 5 && k < 10 ? 0.01 : 0;
    mj_step(mj.get(), d.get());
    if (k % 10) continue;
    json contacts = json::array();
    for (int c = 0; c < d->ncon; c++) {
      const mjContact& x = d->contact[c];
      contacts.push_back({x.geom[0], x.geom[1], x.dim, x.efc_address, x.dist, x.pos[0], x.pos[1], x.pos[2], 0, 0, 0});
    }
    records.push_back({{"step", k},
                       {"qpos", std::vector<double>(d->qpos, d->qpos + mj->nq)},
                       {"ncon", d->ncon},
                       {"nefc", d->nefc},
                       {"contacts", contacts},
                       {"noise", {{"f32", 1e-8}, {"eps", 1e-7}}}});
  }
  const auto write = [&] { std::ofstream(dir / "expected" / "log@heavy.json") << json{{"records", records}}; };
  write();

  ValidateOptions o;
  for (Precision p : {Precision::f32, Precision::f64}) {
    o.precision = p;
    const CaseReplay r = replay_case((dir / "log@heavy").string(), o);
    CHECK(r.good);
    CHECK(r.judged == 2);
  }
  records[1]["qpos"][7] = records[1]["qpos"][7].get<double>() + 1e-4;
  write();
  CHECK(!replay_case((dir / "log@heavy").string(), o).good);
  CHECK(error_of([&] { replay_case((dir / "nothing").string(), o); }).has("no case 'nothing'"));
}

TEST_CASE("mjBatch and batchsim do the same work") {
  const Model m = Model::from_file(find_model("stick.xml"));
  const Scene s = make_scene(m.mjmodel(), Situation::stand, scene_options(9, 0.1, 1, 1));
  BatchOptions o;
  o.nworld = 9, o.precision = Precision::f64, o.nthread = 1;
  Batch batch(m, o);
  const auto ours = batchsim_peer(batch);
  timed_run(*ours, s, s.nstep);
  for (bool persistent : {false, true}) {
    const auto theirs = mjbatch_peer(m.mjmodel(), 9, 1, persistent);
    CHECK(timed_run(*theirs, s, s.nstep).wall > 0);
    const PoseMap pose(m.mjmodel());
    const std::vector<double> a = ours->qpos(), b = theirs->qpos();
    for (int w = 0; w < 9; w++) CHECK(pose.error(&a[size_t(w) * s.nq], &b[size_t(w) * s.nq]).joint < 1e-4);
  }
}

TEST_CASE("quantiles") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({}) == 0);
  CHECK(quantile({1, 2, 3, 4}, 0) == 1);
  CHECK(quantile({1, 2, 3, 4}, 0.99) == 4);
  CHECK(quantile({1, 2, 3, 4}, 0.5) == 2);
}
