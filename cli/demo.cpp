// batchsim demo: thousands of bodies stand, are shoved, fall and get up again.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>

#include "../tests/tolerances.h"
#include "arguments.h"
#include "commands.h"
#include "common/host_rows.h"
#include "common/models.h"
#include "common/parallel.h"
#include "common/peers.h"
#include "common/progress.h"
#include "common/random.h"
#include "common/reference.h"
#include "common/stats.h"
#include "common/table.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

constexpr double kForce = 250, kShoveSeconds = 0.2, kShoveEvery = 2.5;  // N, s
constexpr double kFallen = 0.6;                                         // m: a pelvis below has fallen
constexpr double kTick = 0.1;                                           // s between two looks at the worlds
constexpr int kCompared = 64;                                           // worlds beside MuJoCo
constexpr int kTimedSteps = 8;                                          // of both, from the same states

struct Options {
  std::string models;
  int nworld = 4096, nthread = 0;
  double seconds = 10;
  bool progress = false;
};

struct Count {
  double simulated = 0;
  long shoves = 0, falls = 0;
  Timing spent;
};

// shoves a share of the worlds each tick, and resets those that have fallen
class Show {
 public:
  Show(Batch& batch)
      : batch_(batch), z_(batch.bind<float>("qpos")), mask_(batch.nworld()), force_(3 * size_t(batch.nworld())), random_(0, 0) {
    const mjModel* m = batch.model().mjmodel();
    body_ = push_body(m);
    dt_ = m->opt.timestep;
    tick_ = std::max(1, int(std::lround(kTick / dt_)));
    for (int w = 0; w < batch.nworld(); w++) next_.push_back(random_.uniform(0, 1));
  }
  void tick() {
    const double now = count.simulated;
    for (int w = 0; w < batch_.nworld(); w++) {
      mask_[w] = next_[w] <= now;
      if (!mask_[w]) continue;
      const double angle = random_.uniform(0, 2 * std::numbers::pi);
      force_[3 * w] = float(kForce * std::cos(angle)), force_[3 * w + 1] = float(kForce * std::sin(angle));
      next_[w] += kShoveEvery;
      count.shoves++;
    }
    batch_.push(body_, force_.data(), std::max(1, int(std::lround(kShoveSeconds / dt_))), nullptr, {.mask = mask_.data()});

    const Timing t0 = clock_now();
    batch_.step(tick_);
    const Timing t1 = clock_now();
    count.spent.wall += t1.wall - t0.wall, count.spent.cpu += t1.cpu - t0.cpu;
    count.simulated += tick_ * dt_;

    for (int w = 0; w < batch_.nworld(); w++) {
      mask_[w] = z_(w, 2) < kFallen;
      count.falls += mask_[w];
    }
    batch_.reset(-1, {.mask = mask_.data()});
  }
  int tick_steps() const { return tick_; }
  Count count;

 private:
  Batch& batch_;
  View<float> z_;
  std::vector<uint8_t> mask_;
  std::vector<float> force_;
  std::vector<double> next_;  // s, of each world's next shove
  Random random_;
  int body_ = 0, tick_ = 1;
  double dt_ = 0;
};

// the present worlds as a scene that others can start from
Scene snapshot(HostRows& rows, const Model& model, int nworld) {
  Scene s;
  s.nworld = nworld, s.nstep = kTimedSteps, s.hold = kTimedSteps, s.same_ctrl = true;
  s.nq = model.nq(), s.nv = model.nv(), s.na = model.na(), s.nu = model.nu();
  s.qpos = rows.get("qpos"), s.qvel = rows.get("qvel"), s.act = rows.get("act"), s.warmstart = rows.get("qacc_warmstart");
  s.ctrl.assign(model.nu(), 0.0);
  return s;
}

// hinge errors of one step of some worlds, against MuJoCo to the last digit from the same states
std::vector<double> step_errors(const Model& model, const Scene& all, int nthread) {
  std::vector<int> worlds;
  for (int w = 0; w < std::min(all.nworld, kCompared); w++)
    worlds.push_back(int(size_t(w) * all.nworld / std::min(all.nworld, kCompared)));
  const Scene scene = selected(all, worlds);
  BatchOptions o;
  o.nworld = scene.nworld, o.nthread = nthread;
  Batch batch(model, o);
  HostRows rows(batch);
  rows.start(scene);
  batch.step();
  const ModelPtr m = copy_model(model.mjmodel());
  tighten(m.get());
  Reference reference(m.get(), scene, nthread);
  reference.advance(1);
  const PoseMap pose(m.get());
  const std::vector<double> qpos = rows.get("qpos");
  std::vector<double> e;
  for (int w = 0; w < scene.nworld; w++)
    e.push_back(pose.error(&qpos[size_t(w) * scene.nq], reference.state(1, w) + reference.layout().qpos).joint);
  return e;
}

int cmd_demo(const Options& o) {
  const Model model = Model::from_file(find_model("simple.xml", o.models));
  BatchOptions bo;
  bo.nworld = o.nworld, bo.nthread = thread_count(o.nthread);
  Batch batch(model, bo);
  HostRows rows(batch);
  std::printf("%d bodies of %d degrees of freedom stand, are shoved with %g N every %g s, and start anew when they fall\n",
              batch.nworld(), model.nv(), kForce, kShoveEvery);
  std::printf("  %s, on %s\n", model.source().c_str(), batch.device_name().c_str());

  Show show(batch);
  Progress progress("demo", o.seconds, o.progress);
  const Timing begin = clock_now();
  while (clock_now().wall - begin.wall < o.seconds) {
    show.tick();
    const Count& c = show.count;
    progress.at(clock_now().wall - begin.wall, short_number(batch.nworld() * c.simulated / model.timestep() / c.spent.wall) +
                                                   " world-steps/s, " + std::to_string(c.shoves) + " shoves, " +
                                                   std::to_string(c.falls) + " falls");
  }
  progress.clear();
  const Report report = batch.report();

  // both from the same states, in turn
  const Scene scene = snapshot(rows, model, batch.nworld());
  const auto ours = batchsim_peer(batch), theirs = mjbatch_peer(model.mjmodel(), batch.nworld(), bo.nthread, false);
  const double work = double(batch.nworld()) * kTimedSteps;
  std::vector<double> our_rate, their_rate, ratio;
  for (int round = 0; round < 3; round++) {
    our_rate.push_back(work / timed_run(*ours, scene, kTimedSteps).wall);
    their_rate.push_back(work / timed_run(*theirs, scene, kTimedSteps).wall);
    ratio.push_back(our_rate.back() / their_rate.back());
  }
  const std::vector<double> errors = step_errors(model, scene, bo.nthread);
  const bool right = median(errors) < tolerances::kJointF32;

  const Count& c = show.count;
  Table table({"", ""});
  table.add({"simulated, each world", format("%.1f s", c.simulated)});
  table.add({"simulated, all worlds", format("%.1f h", c.simulated * batch.nworld() / 3600)});
  table.add({"shoves", std::to_string(c.shoves)});
  table.add({"falls, each a masked reset", std::to_string(c.falls)});
  table.add({"world-steps/s, the whole demo", short_number(batch.nworld() * c.simulated / model.timestep() / c.spent.wall)});
  table.add({"world-steps/s at its end", short_number(median(our_rate))});
  table.add({format("mjBatch from the same states, %d threads", bo.nthread), short_number(median(their_rate))});
  table.add({"times as fast", format("%.1f", median(ratio))});
  table.add(
      {format("joint error of a step, %zu worlds beside MuJoCo: median", errors.size()), error_number(median(errors)) + " rad"});
  table.add({"worst", error_number(largest(errors)) + " rad"});
  table.add({"most contacts of a world", format("%d of %d", report.ncon_peak, batch.options().nconmax)});
  table.add({"most constraint rows of a world", format("%d of %d", report.nefc_peak, batch.options().njmax)});
  table.add({"worlds that dropped contacts", std::to_string(report.worlds_contacts_dropped)});
  table.add({"worlds that dropped rows", std::to_string(report.worlds_rows_dropped)});
  table.add({"worlds with a bad state", std::to_string(report.worlds_bad_state)});
  table.print();
  if (const std::string message = report.message(); !message.empty()) std::printf("\n%s", message.c_str());
  return right ? kGood : kOutOfTolerance;
}

}  // namespace

void add_demo(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  CLI::App* sub =
      app.add_subcommand("demo", "Thousands of bodies stand, are shoved, fall and start anew; a table of speed and fidelity");
  sub->add_option("--models", o->models, "Folder of simple.xml; default: beside the program, or the source tree")->type_name("DIR");
  sub->add_option("--worlds", o->nworld, "")->capture_default_str();
  sub->add_option("--threads", o->nthread, "Of batchsim and mjBatch; default: one a logical processor")->check(check_count);
  sub->add_option("--seconds", o->seconds, "Wall time of the show; the closing comparison takes some seconds more")
      ->check(check_seconds)
      ->capture_default_str();
  sub->add_flag("--progress", o->progress, "Show progress where stderr is not a terminal, too");
  sub->footer("Examples:\n  batchsim demo\n  batchsim demo --worlds 1024 --seconds 60\n");
  sub->callback([o, &exit_code] { exit_code = cmd_demo(*o); });
}
