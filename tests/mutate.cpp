// Takes out each barrier of the kernels in turn and looks whether the checking backend finds a race: `./dev mutate`.
//
// A barrier is left out where it is called, at run time, by its place in the source. A survivor is redundant, or nothing here runs it
// in a way that needs it; reasons for those that stay are in kReasons.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "backend/check/team.h"
#include "kernels/factor_m.h"
#include "scratch.h"
#include "worlds.h"

using namespace batchsim;
namespace fs = std::filesystem;

namespace {

// barriers that are kept although no race shows without them
const std::map<std::string, std::string> kReasons = {};

// what the bodies do not have: standalone free bodies that spin, springs, all sensors, two trees that touch, euler
const char* const kMixed =
    R"(<mujoco><option timestep="0.005" integrator="%s"/><worldbody><geom name="floor" type="plane" size="5 5 .1" contype="3"/>
  <body name="arm" pos="0 .2 .3"><joint name="s" axis="0 1 0" stiffness="3" damping=".2" range="-10 10"/><joint axis="1 0 0" damping=".2"/><joint axis="0 0 1" damping=".2"/>
    <geom type="capsule" size=".04" fromto="0 0 0 .2 0 0"/>
    <body name="hand" pos=".2 0 0"><joint name="e" axis="0 0 1" frictionloss=".1" damping=".1"/><joint axis="0 1 0" damping=".1"/>
      <joint axis="1 0 0" damping=".1"/><geom type="sphere" size=".07" pos=".05 0 0"/>
      <site name="h" pos=".1 0 0"/></body></body>
  <body name="a" pos="0 0 .1"><freejoint/><geom type="ellipsoid" size=".1 .08 .09" contype="0" conaffinity="2"/><site name="a" size=".2"/></body>
  <body name="b" pos=".12 0 .25"><freejoint/><geom type="capsule" size=".05 .1" condim="4"/></body></worldbody>
  <actuator><position joint="s" kp="20" kv="1"/><motor joint="e" forcerange="-1 1"/></actuator>
  <sensor><touch site="a"/><gyro site="h"/><jointpos joint="s"/><jointvel joint="e"/><framepos objtype="site" objname="h"/>
    <framequat objtype="body" objname="hand"/><subtreecom body="arm"/><clock/></sensor></mujoco>)";

std::string mixed(const char* integrator) {
  char text[4096];
  std::snprintf(text, sizeof text, kMixed, integrator);
  return text;
}

// balls in each other
std::string pile_of(int n) {
  std::string s = "<mujoco><option integrator='implicitfast'/><worldbody><geom type='plane' size='5 5 .1'/>";
  for (int i = 0; i < n; i++)
    s += "<body pos='" + std::to_string(0.01 * i) + " " + std::to_string(0.013 * (i % 3)) +
         " 0.09'><freejoint/><geom size='.1'/></body>";
  return s + "</worldbody></mujoco>";
}

// worlds in the air, on the ground and in a heap, pushed, kicked and reset by a bad number; tangle: rad that servos pull the limbs
void exercise(const Model& m, int fall, int nstep, double tangle = 0) {
  const int nworld = 2;
  std::vector<double> rows;
  {
    Batch quick(m, {.nworld = nworld, .precision = Precision::f64, .nthread = 1});
    scatter<double>(quick, [](int w) { return w + 3; });
    const auto ctrl = quick.bind<double>("ctrl");
    for (int w = 0; w < nworld; w++)
      for (int i = 0; i < ctrl.size; i++) ctrl(w, i) += tangle * noise(w, i);
    quick.step(fall);
    rows.resize(size_t(nworld) * quick.state_size());
    quick.get_state(rows.data());
  }
  Batch b(m, {.nworld = nworld, .device = "check", .precision = Precision::f64, .nthread = 1});
  b.set_state(rows.data());
  const std::vector<double> force(3 * nworld, 5.0);
  b.push(m.nbody() - 1, force.data(), 1);
  b.kick(m.nbody() - 1, force.data());
  b.step(nstep);
  const auto applied = b.bind<double>("qfrc_applied");
  for (int k = 0; k < applied.size; k++) applied(0, k) = 1e5;  // violent, not bad
  b.step(1);
  for (int k = 0; k < applied.size; k++) applied(0, k) = 0;
  b.bind<double>("qvel")(0, 1) = 1e12;
  b.bind<double>("qfrc_applied")(1, 0) = 1e30;
  b.step(1);
}

// factor and solve in one go, which no step does
void exercise_factor(const Model& m) {
  Scratch<Check> s(m.flat(), 1, 1);
  for (int i = 0; i < s.z.nM; i++) Check::set(s.d.M, i, 0, 0);
  for (int k = 0; k < s.z.nv; k++) {
    Check::set(s.d.M, s.m.M_rowadr[k] + kQuad * s.m.dof_depth[k], 0, 1);
    Check::set(s.d.qfrc_smooth, k, 0, 1);
  }
  factor_team<true>(Team<Check>{}, ModelTree<Check>(s.m), s.d.M, s.d.qLD, team_scratch(s.m, s.d.factor_work), s.d.qfrc_smooth,
                    s.d.qacc_smooth);
}

void exercise_all() {
  static const Model stick = model_of("stick"), simple = model_of("simple"), muscular = model_of("muscular");
  static const Model undamped = Model::from_xml(
      "<mujoco><option integrator='Euler'><flag contact='disable' actuation='disable'/></option><worldbody><body><joint name='j' "
      "axis='0 1 0'/>"
      "<geom size='.1' pos='1 0 0'/><body pos='1 0 0'><joint axis='0 1 0'/><geom size='.1' pos='1 0 0'/></body></body></worldbody>"
      "<actuator><motor joint='j'/></actuator></mujoco>");
  static const Model pile = Model::from_xml(pile_of(14));  // more candidate pairs than one chunk
  exercise_factor(muscular);
  exercise(stick, 30, 1);
  for (int fall : {15, 60, 120, 240}) exercise(simple, fall, 1);  // landing ... lying
  for (int fall : {4, 60, 200}) exercise(muscular, fall, 1);
  for (int fall : {40, 80, 120, 200}) exercise(simple, fall, 1, 2), exercise(muscular, fall, 1, 2);  // limbs that cross
  exercise(undamped, 1, 1);
  exercise(pile, 2, 1);
  static const Model fast = Model::from_xml(mixed("implicitfast")), euler = Model::from_xml(mixed("Euler"));
  exercise(fast, 60, 2);
  exercise(euler, 60, 1);
}

// every t.sync() in the kernels' text
std::vector<Site> barriers_in_text() {
  std::vector<Site> sites;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(BATCHSIM_SOURCE) / "libbatchsim/src/kernels")) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    std::string line;
    for (unsigned n = 1; std::getline(file, line); n++)
      if (line.find("t.sync()") != std::string::npos) sites.push_back({entry.path().filename().string(), n});
  }
  return sites;
}

}  // namespace

int main() {
  exercise_all();
  const RaceReport clean = take_races();
  for (const auto& line : clean.first) std::printf("race: %s\n", line.c_str());
  if (clean.count) {
    std::printf("%ld races with all barriers in place\n", clean.count);
    return 1;
  }
  const std::vector<Site> called = take_barriers();
  const std::set<Site> runs(called.begin(), called.end());

  int found = 0, failed = 0;
  for (const Site& site : barriers_in_text()) {
    const std::string name = site.file + ":" + std::to_string(site.line);
    long races = 0;
    if (runs.count(site)) {
      leave_out(site);
      exercise_all();
      leave_out({});
      races = take_races().count;
    }
    const auto reason = kReasons.find(name);
    const char* verdict = races                      ? "found"
                          : reason != kReasons.end() ? reason->second.c_str()
                          : runs.count(site)         ? "SURVIVED"
                                                     : "NEVER RUN";
    std::printf("%-28s %8ld races  %s\n", name.c_str(), races, verdict);
    std::fflush(stdout);
    if (races)
      found++;
    else if (reason == kReasons.end())
      failed++;
  }
  std::printf("%d barriers found missing, %d not\n", found, failed);
  return failed ? 1 : 0;
}
