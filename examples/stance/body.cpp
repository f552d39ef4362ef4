#include "body.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "task.h"

namespace stance {
namespace {

using batchsim::Error;
namespace fs = std::filesystem;

bool contains(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char* p) { return name.find(p) != std::string::npos; });
}
bool is_finger(const std::string& joint) { return contains(joint, {"index", "middle", "ring", "little", "cmc", "tmp", "_tip"}); }

fs::path model_path(const std::string& name_or_path) {
  if (fs::is_regular_file(name_or_path)) return name_or_path;
  const bool is_name = name_or_path.find_first_of("/.") == std::string::npos;
  const fs::path in_models = fs::path(STANCE_MODELS) / (name_or_path + ".xml");
  if (is_name && fs::is_regular_file(in_models)) return in_models;
  throw Error(Error::kInput,
              "there is no body '" + name_or_path + "'; name stick, simple or muscular, or the path of an MJCF file");
}

// all ids by name; every name that the model lacks is told at once
class Names {
 public:
  explicit Names(const batchsim::Model& model) : m_(model.mjmodel()) {}
  int id(mjtObj type, const char* kind, const std::string& name) {
    const int id = mj_name2id(m_, type, name.c_str());
    if (id < 0) missing_ += (missing_.empty() ? "" : ", ") + std::string(kind) + " '" + name + "'";
    return std::max(id, 0);
  }
  void check(const std::string& source) const {
    if (missing_.empty()) return;
    throw Error(Error::kInput,
                source + " is no body for the stance: it lacks " + missing_ + "; take models/simple.xml for a pattern");
  }

 private:
  const mjModel* m_;
  std::string missing_;
};

}  // namespace

Body load_body(const std::string& name_or_path) {
  const fs::path path = model_path(name_or_path);
  Body b(batchsim::Model::from_file(path.string()));
  const mjModel* m = b.model.mjmodel();
  b.name = path.stem().string();

  const double step = m->opt.timestep * task::substeps;
  if (std::abs(step - task::control_step) > 1e-9) {
    std::ostringstream s;
    s << path.string() << ": the timestep is " << m->opt.timestep << " s; the stance takes " << task::control_step / task::substeps
      << " s, set it in <option>";
    throw Error(Error::kInput, s.str());
  }
  bool hinges = m->njnt > 1 && m->jnt_type[0] == mjJNT_FREE && m->nq == m->njnt + 6;
  for (int i = 1; i < m->njnt; i++) hinges = hinges && m->jnt_type[i] == mjJNT_HINGE && m->jnt_limited[i];
  if (!hinges)
    throw Error(Error::kInput, path.string() + " is no body for the stance: it takes one free joint, then hinges that are limited");

  Names names(b.model);
  b.stick = mj_name2id(m, mjOBJ_BODY, "torso") >= 0;
  b.pelvis = names.id(mjOBJ_BODY, "body", "pelvis");
  b.thorax = names.id(mjOBJ_BODY, "body", b.stick ? "torso" : "thorax");
  for (int side = 0; side < 2; side++) {
    const std::string s = side ? "r_" : "l_";
    b.foot[side] = names.id(mjOBJ_SITE, "site", s + "foot");
    b.load[side] = m->nsensor ? m->sensor_adr[std::min(names.id(mjOBJ_SENSOR, "sensor", s + "load"), int(m->nsensor) - 1)] : 0;
    names.id(mjOBJ_JOINT, "joint", s + "knee");
    names.id(mjOBJ_JOINT, "joint", s + "hip_flex");
    names.id(mjOBJ_JOINT, "joint", s + "ank_flex");
    if (b.stick) continue;
    for (const char* joint : {"hip_abd", "hip_rot", "ank_ever"}) names.id(mjOBJ_JOINT, "joint", s + joint);
  }

  b.njoint = m->njnt - 1;
  double total = 0;
  for (int i = 0; i < b.njoint; i++) {
    const std::string name = b.model.joint_name(i + 1);
    b.joint.push_back(name);
    b.actuator.push_back(names.id(mjOBJ_ACTUATOR, "actuator", name));
    b.lower.push_back(m->jnt_range[2 * (i + 1)]);
    b.upper.push_back(m->jnt_range[2 * (i + 1) + 1]);
    b.weight.push_back(contains(name, {"hip", "knee", "ank", "waist", "lum"}) ? task::joint_weight_main
                       : is_finger(name)                                      ? task::joint_weight_finger
                                                                              : task::joint_weight_other);
    total += b.weight.back();
    if (!contains(name, {"hip", "knee", "ank", "waist", "lum"})) continue;
    b.policy_joint.push_back(i);
    b.scale.push_back(contains(name, {"ank_ever", "lum"}) ? task::scale_small : task::scale_leg);
  }
  names.check(path.string());
  for (double& w : b.weight) w /= total;
  b.weight_newton = mj_getTotalmass(m) * 9.81;
  b.shove = b.stick ? task::shove_force_stick : task::shove_force;
  return b;
}

}  // namespace stance
