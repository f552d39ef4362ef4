// batchsim info: what a model is made of, as batchsim sees it.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "batchsim/model.h"
#include "commands.h"
#include "common/table.h"
#include "kernels/collision/pair_func.h"
#include "model/flat.h"
#include "model/support.h"
#include "world/fields_page.h"

namespace {

using batchsim::FlatModel;
using batchsim::Model;
using batchsim::tools::Table;

std::string number(double x) {
  char s[32];
  std::snprintf(s, sizeof s, "%.4g", x);
  return s;
}

std::string range(const double* r, bool limited, const char* unit) {
  return limited ? number(r[0]) + " ... " + number(r[1]) + " " + unit : "";
}

std::string name_or_id(const std::string& name, int id) { return name.empty() ? std::to_string(id) : name; }

void print_tree(const FlatModel& f) {
  std::printf(
      "\nTree: longest chain of DoFs %d, %d segments of up to four in %d heights, M in %d columns of four; %d levels of bodies\n",
      f.nchain, f.nseg, f.nheight, f.ncol, f.nbodylevel);
  std::printf("  segments a height, leaves first:");
  for (int h = 0; h < f.nheight; h++) std::printf(" %d", f.height_segadr[h + 1] - f.height_segadr[h]);
  std::printf("\n  limited joints %d, DoFs with friction loss %d, standalone free bodies %d\n", f.nlimit, f.nfric, f.nfreebody);
}

void print_pairs(const FlatModel& f) {
  constexpr const char* names[batchsim::kPairFuncCount] = {"plane, sphere",  "plane, capsule",  "plane, ellipsoid",
                                                           "sphere, sphere", "sphere, capsule", "capsule, capsule"};
  int of_type[batchsim::kPairFuncCount] = {};
  std::map<int, int> of_dim;
  for (int p = 0; p < f.npair; p++) of_type[f.pair_func[p]]++, of_dim[f.pair_dim[p]]++;
  std::printf("\nCandidate geom pairs after all filters: %d\n", f.npair);
  for (int k = 0; k < batchsim::kPairFuncCount; k++)
    if (of_type[k]) std::printf("  %-18s %d\n", names[k], of_type[k]);
  for (auto [dim, n] : of_dim) std::printf("  condim %d           %d\n", dim, n);
}

// what the servo formulas call these parameters: force = gain ctrl + b0 + b1 length + b2 velocity
void print_actuators(const FlatModel& f) {
  if (!f.nu) return;
  std::printf("\nActuators: force on the joint = gear x (gain x control - kp x gear x angle - kv x gear x velocity)\n");
  Table table({"actuator", "joint", "kind", "gear", "gain", "kp", "kv", "ctrlrange", "forcerange"}, Table::kLeft);
  for (int i = 0; i < f.nu; i++) {
    const double *gain = &f.actuator_gainprm[3 * i], *bias = &f.actuator_biasprm[3 * i];
    const bool affine = f.actuator_biastype[i] == mjBIAS_AFFINE, fixed = f.actuator_gaintype[i] == mjGAIN_FIXED;
    const double b0 = affine ? bias[0] : 0, b1 = affine ? bias[1] : 0, b2 = affine ? bias[2] : 0;
    const bool position = fixed && b0 == 0 && b1 != 0 && gain[0] == -b1;
    const bool velocity = fixed && b0 == 0 && b1 == 0 && b2 != 0 && gain[0] == -b2;
    const bool motor = fixed && b0 == 0 && b1 == 0 && b2 == 0;
    table.add({name_or_id(f.actuator_name[i], i) + (f.actuator_disabled[i] ? " (disabled)" : ""),
               name_or_id(f.jnt_name[f.actuator_jntid[i]], f.actuator_jntid[i]),
               position   ? "position"
               : velocity ? "velocity"
               : motor    ? "motor"
                          : "general",
               number(f.actuator_gear[i]), fixed ? number(gain[0]) : "affine", b1 != 0 ? number(-b1) + " N m/rad" : "",
               b2 != 0 ? number(-b2) + " N m s/rad" : "",
               range(&f.actuator_ctrlrange[2 * i], f.actuator_ctrllimited[i],
                     position   ? "rad"
                     : velocity ? "rad/s"
                                : ""),
               range(&f.actuator_forcerange[2 * i], f.actuator_forcelimited[i], "N m")});
  }
  table.print();
}

void print_sensors(const Model& model) {
  const FlatModel& f = model.flat();
  if (!f.nsensor) return;
  const std::map<int, std::array<const char*, 2>> types = {
      {mjSENS_TOUCH, {"touch", "N"}},           {mjSENS_GYRO, {"gyro", "rad/s"}},     {mjSENS_JOINTPOS, {"jointpos", "rad"}},
      {mjSENS_JOINTVEL, {"jointvel", "rad/s"}}, {mjSENS_FRAMEPOS, {"framepos", "m"}}, {mjSENS_FRAMEQUAT, {"framequat", ""}},
      {mjSENS_SUBTREECOM, {"subtreecom", "m"}}, {mjSENS_CLOCK, {"clock", "s"}}};
  std::printf("\nSensors: %d values\n", f.nsensordata);
  Table table({"sensor", "type", "object", "values", "unit", "cutoff"}, Table::kLeft);
  for (int i = 0; i < f.nsensor; i++) {
    const auto type = types.find(f.sensor_type[i]);
    const char* object = f.sensor_objid[i] >= 0 ? mj_id2name(model.mjmodel(), f.sensor_objtype[i], f.sensor_objid[i]) : nullptr;
    table.add({name_or_id(f.sensor_name[i], i), type == types.end() ? std::to_string(f.sensor_type[i]) : type->second[0],
               object                   ? object
               : f.sensor_objid[i] >= 0 ? std::to_string(f.sensor_objid[i])
                                        : "",
               std::to_string(f.sensor_adr[i]) + " + " + std::to_string(f.sensor_dim[i]),
               type == types.end() ? "" : type->second[1], f.sensor_cutoff[i] > 0 ? number(f.sensor_cutoff[i]) : ""});
  }
  table.print();
}

void print_features(const Model& model) {
  std::printf("\nFeatures used\n");
  const char* area = "";
  for (const auto& use : batchsim::used_features(model.mjmodel(), model.flat())) {
    if (use.feature->area != std::string(area)) std::printf("  %s\n", area = use.feature->area);
    std::printf("    %-40s %ld\n", use.feature->name, use.count);
  }
}

void print_model(const Model& model) {
  const FlatModel& f = model.flat();
  std::printf("%s\n", model.source().c_str());
  for (const std::string& w : model.warnings()) std::printf("warning: %s\n", w.c_str());
  std::printf("  nq %d, nv %d, nu %d; bodies %d, joints %d, geoms %d, sites %d, sensors %d, keyframes %d\n", f.nq, f.nv, f.nu,
              f.nbody, f.njnt, f.ngeom, f.nsite, f.nsensor, f.nkey);
  std::printf("  mass %s kg, timestep %s s, integrator %s\n", number(f.body_subtreemass[0]).c_str(), number(f.timestep[0]).c_str(),
              f.integrator == mjINT_EULER ? "Euler" : "implicitfast");
  std::printf("  default slots a world: %d contacts (nconmax), %d constraint rows (njmax)\n", model.default_nconmax(),
              model.default_njmax());
  print_tree(f);
  print_pairs(f);
  print_actuators(f);
  print_sensors(model);
  if (f.nkey) std::printf("\nKeyframes\n");
  for (int i = 0; i < f.nkey; i++)
    std::printf("  %s at %s s\n", name_or_id(f.key_name[i], i).c_str(), number(f.key_time[i]).c_str());
  print_features(model);
}

int cmd_info(const std::string& path, bool features, bool fields) {
  if (features) std::fputs(batchsim::features_markdown().c_str(), stdout);
  if (fields) std::fputs(batchsim::fields_markdown().c_str(), stdout);
  if (path.empty() && !features && !fields)
    throw batchsim::Error(batchsim::Error::kInput, "info: give a MODEL, or --features, or --fields");
  if (!path.empty()) print_model(Model::from_file(path));
  return kGood;
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
  struct Options {
    std::string model;
    bool features = false, fields = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* sub =
      app.add_subcommand("info", "Shows a model: sizes, tree, candidate pairs, actuators, sensors, default slots, features");
  sub->add_option("MODEL", options->model, "MJCF, URDF or .mjb file");
  sub->add_flag("--features", options->features, "Print what batchsim supports, as markdown");
  sub->add_flag("--fields", options->fields, "Print the fields of a batch, as markdown");
  sub->footer("Examples:\n  batchsim info models/simple.xml\n  batchsim info --features > docs/features.md\n");
  sub->callback([options, &exit_code] { exit_code = cmd_info(options->model, options->features, options->fields); });
}
