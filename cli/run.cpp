// batchsim run: steps worlds and says how fast.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "arguments.h"
#include "commands.h"
#include "common/host_rows.h"
#include "common/json.h"
#include "common/peers.h"
#include "common/progress.h"
#include "common/table.h"
#include "world/counted.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

struct Options {
  std::string model, precision, situation = "none", json;
  BatchOptions batch;
  int nstep = 1000;
  uint64_t seed = 0;
  bool progress = false;
};

constexpr int kDistinct = 256;      // worlds that are set up; the others repeat them
constexpr double kWindow = 10;      // s of controls; a longer run repeats them
constexpr double kShowEvery = 0.2;  // s between two looks at the clock

// steps between two changes of the controls or forces, no more than n
int steps_until_change(const Scene& s, int step, int n) {
  n = std::min(n, s.hold - step % s.hold);
  if (s.push_body)  // pushes begin and end with a control
    n = std::min(n, 4);
  return n;
}

int cmd_run(Options& o) {
  JsonFile file(o.json, o.model);
  const Situation situation = situation_named(o.situation);
  o.batch.precision = o.precision == "f64" || (o.precision.empty() && o.batch.device == "check") ? Precision::f64 : Precision::f32;
  const Model loaded = Model::from_file(o.model);
  const ModelPtr m = situation_model(loaded.mjmodel(), situation);
  const Model model = situation == Situation::none ? loaded : Model::from_mjmodel(m.get());
  for (const std::string& w : loaded.warnings()) std::printf("warning: %s\n", w.c_str());
  std::printf("%s\n", loaded.source().c_str());

  Table memory({"memory", "bytes a world", "in all"});
  size_t total = 0;
  Json memory_json = Json::array();
  for (const MemoryUse& u : Batch::memory_estimate(model, o.batch)) {
    memory.add({u.purpose, u.bytes_world ? std::to_string(u.bytes_world) : "", short_number(double(u.bytes))});
    memory_json.push_back({{"purpose", u.purpose}, {"bytes_world", u.bytes_world}, {"bytes", u.bytes}});
    total += u.bytes;
  }
  memory.add({"total", "", short_number(double(total))});
  memory.print();

  Batch batch(model, o.batch);
  HostRows rows(batch);
  Scene scene;
  if (situation == Situation::none) {
    batch.reset(model.nkey() ? 0 : -1);
  } else {
    SceneOptions so;
    so.nworld = std::min(batch.nworld(), kDistinct);
    so.seconds = std::min(kWindow, o.nstep * model.timestep());
    so.seed = o.seed, so.nthread = o.batch.nthread;
    scene = repeated(make_scene(m.get(), situation, so), batch.nworld());
    rows.start(scene);
  }
  std::printf("\n%s, %s of %g s, situation %s, on %s\n", counted(batch.nworld(), "world").c_str(), counted(o.nstep, "step").c_str(),
              model.timestep(), o.situation.c_str(), batch.device_name().c_str());

  Progress progress("stepping", o.nstep, o.progress);
  Timing spent;
  int chunk = 1;
  for (int step = 0; step < o.nstep;) {
    int n = std::min(chunk, o.nstep - step);
    if (scene.nworld) {
      const int at = step % scene.nstep;
      n = std::min(steps_until_change(scene, at, n), scene.nstep - at);
      rows.apply(scene, at);
    }
    const Timing t0 = clock_now();
    batch.step(n);
    batch.synchronize();
    const Timing t1 = clock_now();
    spent.wall += t1.wall - t0.wall, spent.cpu += t1.cpu - t0.cpu;
    if (t1.wall - t0.wall < kShowEvery / 2 && n == chunk) chunk *= 2;
    step += n;
    progress.at(step, short_number(double(batch.nworld()) * step / spent.wall) + " world-steps/s");
  }
  progress.clear();

  const Report report = batch.report();
  const double work = double(batch.nworld()) * o.nstep;
  Table table({"", ""});
  table.add({"world-steps/s", short_number(work / spent.wall)});
  table.add({"world-steps a CPU second", short_number(work / spent.cpu)});
  table.add({"times real time, all worlds", short_number(work * model.timestep() / spent.wall)});
  table.add({"wall time", format("%.2f s", spent.wall)});
  table.add({"most contacts of a world", format("%d of %d", report.ncon_peak, batch.options().nconmax)});
  table.add({"most rows of a world", format("%d of %d", report.nefc_peak, batch.options().njmax)});
  table.add({"worlds that dropped some", std::to_string(std::max(report.worlds_contacts_dropped, report.worlds_rows_dropped))});
  table.add({"worlds with a bad state", std::to_string(report.worlds_bad_state)});
  table.print();
  if (const std::string message = report.message(); !message.empty()) std::printf("\n%s", message.c_str());
  const long races = show_races();
  file.write({{"model", loaded.source()},
              {"device", batch.device_name()},
              {"worlds", batch.nworld()},
              {"steps", o.nstep},
              {"situation", o.situation},
              {"world_steps_per_s", work / spent.wall},
              {"world_steps_per_cpu_s", work / spent.cpu},
              {"wall_s", spent.wall},
              {"report", to_json(report)},
              {"memory", memory_json},
              {"races", races}});
  return races ? kOutOfTolerance : kGood;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<Options>();
  o->batch.nworld = 1024;
  CLI::App* sub = app.add_subcommand("run", "Steps worlds of a model, and says how fast and what did not fit");
  sub->add_option("MODEL", o->model, "MJCF, URDF or .mjb file")->required();
  sub->add_option("--worlds", o->batch.nworld, "Worlds, 1 or more")->capture_default_str();
  sub->add_option("--steps", o->nstep, "Timesteps")->check(CLI::Range(1, 1000000000))->capture_default_str();
  sub->add_option("--device", o->batch.device, "cpu, cuda, cuda:N or check (finds races between a team's threads; f64)")
      ->capture_default_str();
  sub->add_option("--precision", o->precision, "f32 (default) or f64")->check(CLI::IsMember({"f32", "f64"}));
  sub->add_option("--situation", o->situation,
                  "free, stand, push or heap, for a floating body; none (default): keyframe 0 or qpos0, its controls")
      ->check(CLI::IsMember({"free", "stand", "push", "heap", "none"}));
  sub->add_option("--nconmax", o->batch.nconmax, "Contact slots a world; default: the model's");
  sub->add_option("--njmax", o->batch.njmax, "Constraint row slots a world; default: the model's");
  sub->add_option("--threads", o->batch.nthread, "Threads on the CPU; default: one a logical processor");
  sub->add_option("--seed", o->seed, "Of the situation's random numbers")->check(check_seed);
  sub->add_option("--json", o->json, "Write the result there; - is stdout")->type_name("FILE");
  sub->add_flag("--progress", o->progress, "Show progress where stderr is not a terminal, too");
  sub->footer(
      "Examples:\n"
      "  batchsim run models/simple.xml --worlds 4096 --steps 200\n"
      "  batchsim run models/muscular.xml --worlds 8192 --steps 1000 --situation heap --nconmax 40 --njmax 320\n");
  sub->callback([o, &exit_code] { exit_code = cmd_run(*o); });
}
