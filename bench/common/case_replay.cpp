#include "common/case_replay.h"

#include <mujoco/mjxmacro.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "../tests/tolerances.h"
#include "common/json.h"
#include "common/progress.h"

namespace batchsim::tools {
namespace {

[[noreturn]] void bad_case(const std::string& what) { throw Error(Error::kInput, what); }

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) bad_case("cannot read '" + path + "'; --case wants DIR/ID, where DIR holds cases.json, models and expected");
  try {
    return Json::parse(file);
  } catch (const Json::exception& e) { bad_case("'" + path + "' is no JSON: " + e.what()); }
}

struct Rows {
  mjtNum* data = nullptr;
  int rows = 0, cols = 0;
};

// an array of reals of mjModel by its name
Rows model_array(mjModel* m, const std::string& field) {
  Rows r;
  const auto keep = [&](const char* name, auto* data, int rows, int cols) {
    if constexpr (std::is_same_v<decltype(data), mjtNum*>)
      if (field == name) r = {data, rows, cols};
  };
  MJMODEL_POINTERS_PREAMBLE(m)
#define X(type, name, nr, nc) keep(#name, m->name, int(m->nr), int(nc));
#define XNV X
  MJMODEL_POINTERS
#undef XNV
#undef X
  if (!r.data) bad_case("the case edits '" + field + "', which is no array of reals in mjModel");
  return r;
}

void apply_edits(mjModel* m, const Json& edits) {
  bool setconst = false;
  for (const Json& e : edits) {
    const std::string name = e.at("name"), type = e.at("obj");
    const int id = mj_name2id(m, mju_str2Type(type.c_str()), name.c_str());
    const Rows r = model_array(m, e.at("field"));
    if (id < 0 || id >= r.rows) bad_case("the case edits " + type + " '" + name + "', which the model does not have");
    for (int i = 0; i < r.cols; i++) {
      mjtNum& x = r.data[id * r.cols + i];
      if (e.contains("scale"))
        x *= e["scale"].get<double>();
      else
        x = e.at("set").is_array() ? e["set"].at(i).get<double>() : e["set"].get<double>();
    }
    setconst = setconst || e.value("setconst", false);
  }
  if (setconst) mj_setConst(m, make_data(m).get());
}

// the run of this id and its model, edited
struct Case {
  Json run, expected;
  std::string model_path;
};
Case load_case(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const std::string dir = slash == std::string::npos ? "." : path.substr(0, slash),
                    id = path.substr(slash == std::string::npos ? 0 : slash + 1);
  Case c;
  const Json cases = read_json(dir + "/cases.json");
  if (!cases.is_object() || !cases.contains("runs"))
    bad_case("'" + dir + "/cases.json' is not a table of cases: it has no \"runs\"");
  for (const Json& run : cases.at("runs"))
    if (run.at("id") == id) c.run = run;
  if (c.run.is_null()) bad_case("there is no case '" + id + "' in '" + dir + "/cases.json'");
  c.expected = read_json(dir + "/expected/" + id + ".json");
  c.model_path = dir + "/models/" + c.run.at("model").get<std::string>() + ".xml";
  return c;
}

// replay on one world: starts as the run says, sine controls or the keyframe's
Scene case_scene(const mjModel* m, const Json& run) {
  SceneOptions o;
  const double steps = run.at("steps");
  if (!(steps >= 1 && steps <= 1e6)) bad_case("the case has " + run.at("steps").dump() + " steps; allowed are 1 ... 1000000");
  o.seconds = steps * m->opt.timestep;
  o.ctrl_scale = run.value("ctrl_scale", 1.0);
  Scene s = make_scene(m, Situation::none, o);
  const DataPtr d = make_data(m);
  const int key = run.value("key", -1);
  if (key >= m->nkey)
    bad_case("the case starts from keyframe " + std::to_string(key) + "; the model has " + std::to_string(m->nkey));
  if (key >= 0) mj_resetDataKeyframe(m, d.get(), key);
  s.qpos.assign(d->qpos, d->qpos + m->nq);
  s.qvel.assign(d->qvel, d->qvel + m->nv);
  s.act.assign(d->act, d->act + m->na);
  if (run.contains("qpos")) s.qpos = run["qpos"].get<std::vector<double>>();
  if (run.contains("qvel")) s.qvel = run["qvel"].get<std::vector<double>>();
  if (int(s.qpos.size()) != m->nq || int(s.qvel.size()) != m->nv)
    bad_case("qpos or qvel of the case has another size than the model's, " + std::to_string(m->nq) + " and " +
             std::to_string(m->nv));
  if (run.value("ctrl", "") == "key") {
    s.hold = s.nstep;
    s.ctrl.assign(d->ctrl, d->ctrl + m->nu);
  }
  return s;
}

struct ContactError {
  int missing = 0;      // of either side
  double distance = 0;  // m, of dist and pos
};

// as sets by geoms: each recorded contact takes the nearest of ours between the same geoms
ContactError compare_contacts(const Json& recorded, const mjData* d) {
  ContactError e;
  std::vector<bool> used(d->ncon);
  for (const Json& r : recorded) {
    int best = -1;
    double least = INFINITY;
    for (int c = 0; c < d->ncon; c++) {
      const mjContact& x = d->contact[c];
      if (used[c] || x.geom[0] != r.at(0).get<int>() || x.geom[1] != r.at(1).get<int>()) continue;
      double far = std::abs(x.dist - r.at(4).get<double>());
      for (int i = 0; i < 3; i++) far = std::max(far, std::abs(x.pos[i] - r.at(5 + i).get<double>()));
      if (far < least) best = c, least = far;
    }
    if (best < 0) {
      e.missing++;
    } else {
      used[best] = true;
      e.distance = std::max(e.distance, least);
    }
  }
  // only so many are recorded
  if (recorded.size() < 48) e.missing += int(std::count(used.begin(), used.end(), false));
  return e;
}

}  // namespace

static CaseReplay replay(const Case& c, const ValidateOptions& o) {
  // MuJoCo's messages, and ours for what is refused, come before the edits
  const ModelPtr edited = copy_model(Model::from_file(c.model_path).mjmodel());
  if (c.run.contains("edits")) apply_edits(edited.get(), c.run["edits"]);
  if (c.run.contains("mocap_move"))
    throw Error(Error::kUnsupported, "the case moves mocap bodies, which batchsim does not implement; leave mocap_move out of it");
  const bool f32 = o.precision == Precision::f32;
  const Model model = Model::from_mjmodel(edited.get());
  const mjModel* m = model.mjmodel();
  const Scene scene = case_scene(m, c.run);
  BatchOptions options;
  options.device = o.device, options.precision = o.precision, options.nconmax = o.nconmax, options.njmax = o.njmax,
  options.nthread = 1;
  Batch batch(model, options);
  HostRows rows(batch);
  rows.start(scene);
  const DataPtr d = make_data(m);
  CaseReplay result;
  result.device = batch.device_name();

  int push = 0, push_from = 0, push_to = 0;
  std::vector<double> wrench(6);
  if (c.run.contains("push")) {
    const Json& p = c.run["push"];
    push = model.body_id(p.at("body").get<std::string>());
    wrench = p.at("wrench").get<std::vector<double>>();
    push_from = p.at("from"), push_to = p.at("to");
    if (wrench.size() != 6) bad_case("push.wrench of the case has " + std::to_string(wrench.size()) + " values; it needs 6");
  }

  Progress progress("case", scene.nstep, o.progress);
  const Json& records = c.expected.at("records");
  result.good = true;
  for (int k = 1; k <= scene.nstep && result.records.size() < records.size(); k++) {
    const Json& r = records[result.records.size()];
    const bool recorded = r.at("step") == k;
    rows.apply(scene, k - 1);
    if (push) {
      std::vector<double> f(6 * size_t(m->nbody));
      if (push_from <= k && k < push_to) std::copy_n(wrench.begin(), 6, f.begin() + 6 * push);
      rows.set("xfrc_applied", f);
    }
    // contacts and rows belong to the state before the step
    if (recorded) batch.export_mjdata(0, d.get());
    batch.step();
    progress.at(k);
    if (!recorded) continue;

    const double f = r.at("noise").at("f32"), eps = r.at("noise").at("eps");
    CaseRecord x;
    x.step = k;
    x.noise = f32 ? std::max(f, eps) : eps;
    x.judged = f32 ? x.noise < tolerances::kFloorUseless : eps < tolerances::kCaseEps;
    x.allowed = (f32 ? tolerances::kCaseNoiseTimes * x.noise : 0) + tolerances::kJointF32;
    const std::vector<double> qpos = rows.get("qpos");
    for (size_t i = 0; i < qpos.size(); i++) {
      const double e = std::abs(qpos[i] - r.at("qpos").at(i).get<double>());
      x.error = e <= x.error ? x.error : std::isnan(e) ? INFINITY : e;
    }
    x.good = x.error <= x.allowed;
    if (r.contains("contacts")) {
      const ContactError con = compare_contacts(r.at("contacts"), d.get());
      x.has_contacts = true, x.missing = con.missing, x.apart = con.distance;
      // float places follow the float pose
      x.good = x.good && x.missing == 0 && x.apart <= tolerances::kCaseContact + (f32 ? x.allowed : 0);
    }
    x.ncon = d->ncon, x.nefc = d->nefc, x.ncon_recorded = r.at("ncon"), x.nefc_recorded = r.at("nefc");
    result.records.push_back(x);
    if (!x.judged) continue;
    result.judged++;
    result.good = result.good && x.good;
    result.worst = std::max(result.worst, x.error / x.allowed);
  }
  result.report = batch.report();
  result.good = result.good && result.judged > 0 && !result.report.overflow();
  return result;
}

CaseReplay replay_case(const std::string& path, const ValidateOptions& o) {
  try {
    return replay(load_case(path), o);
  } catch (const Json::exception& e) {
    // nlohmann's words: which key or type
    bad_case("case '" + path + "': cases.json or its file in expected has another shape than a case: " + e.what());
  }
}

}  // namespace batchsim::tools
