// bench_step: world-steps/s of batchsim beside its peers, the same states, controls and options for all, in interleaved rounds.
//
// First every peer runs the window once: final states are compared, so that what is timed is known to be the same work. mjBatch counts
// with its better configuration, persistent or not. CPU seconds are of all threads; on a machine with other load compare those.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "common/json.h"
#include "common/models.h"
#include "common/mujoco_log.h"
#include "common/peers.h"
#include "common/progress.h"
#include "common/reference.h"
#include "common/stats.h"
#include "common/table.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

struct Options {
  std::vector<std::string> models;
  std::vector<std::string> situations = {"stand", "heap"};
  int nworld = 1024, nthread = 0, rounds = 5, ncontrol = 12, ndistinct = 256, nconmax = 0, njmax = 0, times_slots = 0;
  std::string json, precision = "f32", device = "cpu";
  bool progress = false;
};

// states that are apart by more than this were not the same work
constexpr double kSameMedian = 1e-4, kSameP99 = 1e-2;

struct Rate {
  std::vector<double> wall, cpu;  // world-steps/s, a round each
};

std::vector<std::string> triple(const std::vector<double>& v) {
  return {short_number(quantile(v, 0)), short_number(median(v)), short_number(largest(v))};
}
Json json_triple(const std::vector<double>& v) { return {quantile(v, 0), median(v), largest(v)}; }

// mean contacts and rows of some final poses, as MuJoCo counts them
struct Load {
  double ncon = 0, nefc = 0;
};
Load load_of(const mjModel* m, const std::vector<double>& qpos, int nworld) {
  const DataPtr d = make_data(m);
  Load load;
  const int n = std::min(nworld, 64);
  for (int w = 0; w < n; w++) {
    mju_copy(d->qpos, &qpos[size_t(w) * m->nq], m->nq);
    mj_forward(m, d.get());
    load.ncon += double(d->ncon) / n, load.nefc += double(d->nefc) / n;
  }
  return load;
}

std::vector<double> joint_errors(const mjModel* m, const std::vector<double>& a, const std::vector<double>& b, int nworld) {
  const PoseMap pose(m);
  std::vector<double> e;
  for (int w = 0; w < nworld; w++) e.push_back(pose.error(&a[size_t(w) * m->nq], &b[size_t(w) * m->nq]).joint);
  return e;
}

// returns whether all simulated the same
bool bench_case(const std::string& path, const std::string& situation_name, const Options& o, Json& all) {
  const Situation situation = situation_named(situation_name);
  const Model loaded = Model::from_file(path);
  const ModelPtr m = situation_model(loaded.mjmodel(), situation);
  const Model model = Model::from_mjmodel(m.get());
  SceneOptions so;
  so.nworld = std::min(o.nworld, o.ndistinct);
  so.seconds = o.ncontrol * 4 * m->opt.timestep;
  so.nthread = o.nthread;
  const Scene scene = repeated(make_scene(m.get(), situation, so), o.nworld);
  const int nstep = scene.nstep;

  BatchOptions bo;
  bo.nworld = o.nworld, bo.device = o.device, bo.nthread = o.nthread, bo.nconmax = o.nconmax, bo.njmax = o.njmax;
  bo.precision = o.precision == "f64" ? Precision::f64 : Precision::f32;
  Batch batch(model, bo);
  std::vector<std::unique_ptr<Peer>> peers;
  peers.push_back(batchsim_peer(batch));
  peers.push_back(mjbatch_peer(m.get(), o.nworld, o.nthread, false));
  peers.push_back(mjbatch_peer(m.get(), o.nworld, o.nthread, true));
  std::optional<Batch> roomy;
  if (o.times_slots) {
    bo.nconmax = o.times_slots * batch.options().nconmax, bo.njmax = o.times_slots * batch.options().njmax;
    peers.push_back(batchsim_peer(roomy.emplace(model, bo), format("batchsim, %d times the slots", o.times_slots)));
  }

  std::printf("\n%s, %s: %d worlds, %d distinct, %d steps of %g s a round; %s; load %s\n", loaded.source().c_str(),
              situation_name.c_str(), o.nworld, so.nworld, nstep, m->opt.timestep, batch.device_name().c_str(),
              [] {
                double l = 0;
                getloadavg(&l, 1);
                return format("%.2f", l);
              }()
                  .c_str());

  // the same work? This warms caches and pages up, too
  std::vector<std::vector<double>> end;
  for (auto& peer : peers) {
    timed_run(*peer, scene, nstep);
    end.push_back(peer->qpos());
  }
  bool same = true;
  Json checks = Json::array();
  for (size_t p = 0; p < peers.size(); p++) {
    const std::vector<double> e = joint_errors(m.get(), end[p], end[1], o.nworld);
    const Load load = load_of(m.get(), end[p], o.nworld);
    const bool ok = median(e) <= kSameMedian && quantile(e, 0.99) <= kSameP99;
    same = same && ok;
    std::printf("  %-26s joints from mjBatch's at the end: median %s, p99 %s, max %s rad; contacts %.1f, rows %.1f%s\n",
                peers[p]->name().c_str(), error_number(median(e)).c_str(), error_number(quantile(e, 0.99)).c_str(),
                error_number(largest(e)).c_str(), load.ncon, load.nefc, ok ? "" : "  NOT THE SAME WORK");
    checks.push_back({{"peer", peers[p]->name()},
                      {"median", json_number(median(e))},
                      {"p99", json_number(quantile(e, 0.99))},
                      {"max", json_number(largest(e))},
                      {"ncon", load.ncon},
                      {"nefc", load.nefc}});
  }
  const Report report = batch.report();
  if (const std::string message = report.message(); !message.empty()) std::printf("  %s", message.c_str());
  same = same && !report.overflow();

  std::vector<Rate> rate(peers.size());
  // with more slots batchsim runs against itself alone, which takes less time and is closer paired
  const std::vector<size_t> timed = roomy ? std::vector<size_t>{0, 3} : std::vector<size_t>{0, 1, 2};
  Progress progress("rounds", o.rounds * double(timed.size()), o.progress);
  const double work = double(o.nworld) * nstep;
  for (int r = 0; r < o.rounds; r++)
    for (size_t k = 0; k < timed.size(); k++) {
      const size_t p = timed[r % 2 ? timed.size() - 1 - k : k];  // to and fro, so that no peer always follows the same one
      const Timing t = timed_run(*peers[p], scene, nstep);
      rate[p].wall.push_back(work / t.wall);
      rate[p].cpu.push_back(work / t.cpu);
      progress.at(double(r * timed.size() + k + 1));
    }
  progress.clear();

  Table table({"world-steps a second", "wall: min", "median", "max", "CPU: min", "median", "max"});
  Json rates = Json::array();
  const auto row = [&](const std::string& name, const std::vector<double>& wall, const std::vector<double>& cpu) {
    std::vector<std::string> cells = {name};
    for (const auto* v : {&wall, &cpu})
      for (const std::string& s : triple(*v)) cells.push_back(s);
    table.add(cells);
    rates.push_back({{"what", name}, {"wall", json_triple(wall)}, {"cpu", json_triple(cpu)}});
  };
  for (size_t p : timed) row(peers[p]->name(), rate[p].wall, rate[p].cpu);
  // paired: each round's batchsim over the better mjBatch of that round, or its time with more slots over that without
  std::vector<double> ratio_wall, ratio_cpu;
  for (int r = 0; r < o.rounds; r++) {
    ratio_wall.push_back(rate[0].wall[r] / (roomy ? rate[3].wall[r] : std::max(rate[1].wall[r], rate[2].wall[r])));
    ratio_cpu.push_back(rate[0].cpu[r] / (roomy ? rate[3].cpu[r] : std::max(rate[1].cpu[r], rate[2].cpu[r])));
  }
  row(roomy ? format("time with %d times the slots, over without", o.times_slots) : "batchsim over the better mjBatch", ratio_wall,
      ratio_cpu);
  table.print();
  all.push_back({{"model", loaded.source()},
                 {"situation", situation_name},
                 {"worlds", o.nworld},
                 {"steps", nstep},
                 {"device", batch.device_name()},
                 {"same", same},
                 {"checks", checks},
                 {"rates", rates},
                 {"report", to_json(report)}});
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  batchsim::tools::tell_mujoco_warnings_once();
  Options o;
  CLI::App app("World-steps/s of batchsim beside mjBatch.", "bench_step");
  app.add_option("--model", o.models, "MJCF file, again for more; default: stick, simple and muscular of models/");
  app.add_option("--situation", o.situations, "free, stand or heap, again for more; default stand and heap")
      ->check(CLI::IsMember({"free", "stand", "heap"}));
  app.add_option("--worlds", o.nworld, "")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--distinct", o.ndistinct, "Worlds that are set up; the others repeat them")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", o.nthread, "Of all peers; default: one a logical processor")->check(CLI::PositiveNumber);
  app.add_option("--rounds", o.rounds, "")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--controls", o.ncontrol, "Controls a round, of four steps each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--precision", o.precision, "batchsim's")->check(CLI::IsMember({"f32", "f64"}))->capture_default_str();
  app.add_option("--device", o.device, "batchsim's")->capture_default_str();
  app.add_option("--nconmax", o.nconmax, "Contact slots a world")->check(CLI::PositiveNumber);
  app.add_option("--njmax", o.njmax, "Constraint row slots a world")->check(CLI::PositiveNumber);
  app.add_option("--times-slots", o.times_slots, "Time batchsim against itself with so many times the slots, not against mjBatch")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", o.json, "Write the result there; - is stdout");
  app.add_flag("--progress", o.progress, "Show progress where stderr is not a terminal, too");
  CLI11_PARSE(app, argc, argv);
  try {
    if (o.models.empty())
      for (const char* name : {"stick.xml", "simple.xml", "muscular.xml"}) o.models.push_back(find_model(name));
    JsonFile file(o.json);
    Json all = Json::array();
    bool same = true;
    for (const std::string& model : o.models)
      for (const std::string& situation : o.situations) same = bench_case(model, situation, o, all) && same;
    file.write(all);
    return same ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
