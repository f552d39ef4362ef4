// bench_factor: factor and solve of the joint-space inertia, M x = b with one right-hand side: the library's tree against other ways.
//
//   tree      factor_tree and solve_tree, in tiles of worlds as in a step
//   exact     the same in double, one world at a time, as batches in f64 do on the CPU
//   dense     blocked Cholesky of our own, in packs (factor/dense_pack.h) or a block of 64 threads a world (factor/dense.cuh)
//   eigen     CPU: Eigen's LLT, one world after another
//   mujoco    CPU: mj_factorM and mj_solveM in double, one world after another
//   levels    CUDA: one launch a level of the DoF tree, as MuJoCo Warp does (factor/levels.cuh)
//   cusolver  CUDA: batched potrf and potrs, where libcusolver is found at run time
//
// Each method's residuals are checked before it is timed. Then rounds: each times every method once, one after another, to and fro;
// a ratio is the time of a method over that of the tree in the same round. On the CPU one thread, by its own CPU time.
//
// GFLOP/s: the operations of a method's own algorithm, on the tree's pattern or dense. GB/s: M read once and its factor written once,
// as the method stores them, b and x.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "common/json.h"
#include "common/models.h"
#include "common/mujoco_log.h"
#include "common/progress.h"
#include "common/stats.h"
#include "common/table.h"
#include "factor/check.h"
#include "factor/shapes.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

struct Options {
  std::vector<std::string> models, shapes;
  std::vector<int> nv;
  int nworld = 0, rounds = 15;
  std::string device = "cpu", precision = "f32", json;
  bool progress = false;
};

struct Case {
  std::string name, option;  // what to call it, and what it was asked for with
  Model model;
};

const char* const kFooter =
    R"(Without --model, --shape and --nv: three bodies and all shapes; what is named by --model and by --shape or --nv adds up.

Methods
  tree      the library's own, a world in each SIMD lane: in f32 8 with AVX2, 16 with AVX-512; on a GPU 32 or 64 threads a world
  exact     CPU, with --precision f64: the same, a world after another
  dense     blocked Cholesky of our own, in SIMD lanes or 64 threads a world, as the tree
  eigen     CPU: Eigen's LLT, a world at a time
  mujoco    CPU: mj_factorM and mj_solveM in double, a world at a time
  levels    CUDA: the tree with a launch a level, as MuJoCo Warp does
  cusolver  CUDA: batched potrf and potrs, where libcusolver is found

Columns
  us/world  median time to factor M and solve with one right-hand side
  GB/s      M read once, its factor written once, the right-hand side and the solution
  GFLOP/s   each method's own operations: the tree's pattern has fewer than a dense one's
  ratio     time over the tree's of the same round: above 1 the tree is faster
  error     relative residuals; a model of which a method is too far off is left out, and the exit code is 1)";

constexpr double kRoundSeconds = 0.005;  // of a method, at least

template <class F>
Case load(const std::string& name, const std::string& option, F model) {
  try {
    return {name, option, model()};
  } catch (const Error& e) {
    std::string message = option + ": " + e.what();  // MuJoCo's has several lines
    while (message.ends_with('\n')) message.pop_back();
    for (size_t i; (i = message.find('\n')) != std::string::npos;) message.replace(i, 1, "; ");
    throw Error(e.kind(), message);
  }
}

std::vector<Case> cases(Options o) {
  const bool all = o.models.empty() && o.shapes.empty() && o.nv.empty();
  const bool trees = all || !o.shapes.empty() || !o.nv.empty();
  if (all) o.models = {"stick", "simple", "muscular"};
  if (o.shapes.empty()) o.shapes = shape_names();
  if (o.nv.empty()) o.nv = {27, 43, 64, 89, 128, 192, 256};
  std::vector<Case> list;
  for (const std::string& m : o.models) {
    const std::string path = model_path(m);
    list.push_back(load(std::filesystem::path(path).stem().string(), "--model " + m, [&] { return Model::from_file(path); }));
  }
  if (trees)
    for (const std::string& shape : o.shapes)
      for (int nv : o.nv)
        list.push_back(
            load(shape, "--shape " + shape + " --nv " + std::to_string(nv), [&] { return Model::from_xml(shape_xml(shape, nv)); }));
  return list;
}

// the worlds of a case: as many as fit the cache with the largest matrices, or enough for a GPU
int default_worlds(const Options& o, int nv) {
  const double bytes = double(nv) * nv * (o.precision == "f64" ? 8 : 4);  // a dense M and its factor, by halves
  if (o.device != "cpu") return int(std::clamp(8e9 / bytes, 256.0, 8192.0));
  const long cache = std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 256l << 10);
  return bytes * 64 <= double(cache) ? 64 : bytes * 32 <= double(cache) ? 32 : 16;
}

std::string machine(const Options& o) {
#ifdef BATCHSIM_CUDA
  if (o.device != "cpu") return cuda_device_name();
#endif
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return o.device;
}

Methods make_methods(const Problem& p, const Options& o, std::string& note) {
  const bool f64 = o.precision == "f64";
  if (o.device == "cpu") return cpu_methods(p, f64, note);
#ifdef BATCHSIM_CUDA
  return cuda_methods(p, f64, note);
#else
  throw Error(Error::kDevice, "--device cuda: this build has no CUDA; it can be cpu, or build with BATCHSIM_CUDA=ON");
#endif
}

struct Timing {
  Residual residual;
  int times = 1;
  std::vector<double> seconds, ratio;  // a world, a round each
};

// runs every method once, checks it and finds how often it has to run in a round; returns whether all are right
bool check(const Problem& p, Methods& methods, std::vector<Timing>& timing) {
  bool good = true;
  for (size_t i = 0; i < methods.size(); i++) {
    Method& m = *methods[i];
    Timing& t = timing[i];
    double seconds = m.run(1);
    t.residual = residual(p, m);
    const double bound = residual_bound(m.precision());
    if (!(t.residual.factor <= bound && t.residual.solve <= bound)) {
      good = false;
      std::fprintf(stderr, "bench_factor: %s, nv %d: %s is wrong by %.1e (factor) and %.1e (solve); allowed is %.0e\n",
                   p.name.c_str(), p.nv, m.name().c_str(), t.residual.factor, t.residual.solve, bound);
    }
    if (seconds < kRoundSeconds) seconds = m.run(1);
    t.times = int(std::clamp(std::ceil(kRoundSeconds / std::max(seconds, 1e-9)), 1.0, 1e6));
  }
  return good;
}

// returns whether all methods are right
bool bench_case(const Case& c, const Options& o, Table& table, Json& rows, std::string& note, Progress& progress, double at) {
  const int nworld = o.nworld ? o.nworld : default_worlds(o, c.model.nv());
  const Problem p(c.model, c.name, nworld, o.device == "cpu" ? nworld : 256);
  Methods methods = make_methods(p, o, note);
  std::vector<Timing> timing(methods.size());
  progress.at(at, c.name + " " + std::to_string(p.nv));
  if (!check(p, methods, timing)) return false;
  for (int r = 0; r < o.rounds; r++) {
    for (size_t k = 0; k < methods.size(); k++) {
      const size_t i = r % 2 ? methods.size() - 1 - k : k;
      timing[i].seconds.push_back(methods[i]->run(timing[i].times) / (double(timing[i].times) * nworld));
    }
    for (Timing& t : timing) t.ratio.push_back(t.seconds.back() / timing[0].seconds.back());
    progress.at(at + double(r + 1) / o.rounds, c.name + " " + std::to_string(p.nv));
  }
  for (size_t i = 0; i < methods.size(); i++) {
    const Method& m = *methods[i];
    const Timing& t = timing[i];
    const double s = median(t.seconds);
    table.add({i ? "" : c.name, std::to_string(p.nv), m.name(), m.precision(), format("%.3f", 1e6 * s),
               format("%.2f", m.bytes() / s * 1e-9), format("%.2f", m.flops() / s * 1e-9), format("%.2f", quantile(t.ratio, 0)),
               format("%.2f", median(t.ratio)), format("%.2f", largest(t.ratio)), error_number(t.residual.factor),
               error_number(t.residual.solve), m.detail()});
    rows.push_back({{"model", c.name},
                    {"nv", p.nv},
                    {"method", m.name()},
                    {"device", o.device},
                    {"precision", m.precision()},
                    {"nworld", nworld},
                    {"detail", m.detail()},
                    {"us_per_world", 1e6 * s},
                    {"gb_per_s", m.bytes() / s * 1e-9},
                    {"gflop_per_s", m.flops() / s * 1e-9},
                    {"ratio_to_tree", {{"min", quantile(t.ratio, 0)}, {"median", median(t.ratio)}, {"max", largest(t.ratio)}}},
                    {"residual", {{"factor", t.residual.factor}, {"solve", t.residual.solve}}}});
  }
  return true;
}

int run(const Options& o, const std::string& command) {
  const std::vector<Case> list = cases(o);
  JsonFile file(o.json);
  Json rows = Json::array();
  const std::string on = machine(o);
  std::printf("factor and solve, one right-hand side; %s; medians of %d rounds; ratio: time over the tree's of the same round\n",
              on.c_str(), o.rounds);
  Table table(
      {"model", "nv", "method", "", "us/world", "GB/s", "GFLOP/s", "ratio: min", "median", "max", "error: factor", "solve", ""});
  Progress progress("cases", double(list.size()), o.progress);
  bool good = true;
  std::string note;
  for (size_t i = 0; i < list.size(); i++) good = bench_case(list[i], o, table, rows, note, progress, double(i)) && good;
  progress.clear();
  table.print();
  if (!note.empty()) std::printf("%s\n", note.c_str());
  if (on.find("ptxvm") != std::string::npos)
    std::printf("an interpreter ran this: the results are checked, the times are not a GPU's\n");
  file.write({{"bench", "factor"}, {"command", command}, {"machine", on}, {"rounds", o.rounds}, {"rows", rows}});
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  tell_mujoco_warnings_once();
  Options o;
  CLI::App app("Factor and solve of the joint-space inertia: the tree beside dense and other ways.", "bench_factor");
  app.footer(kFooter);
  app.add_option("--model", o.models, "MJCF file or stick, simple, muscular, muscular_full; again for more");
  app.add_option("--shape", o.shapes, "Synthetic tree: chain, star, humanoid or random; again for more. With --nv alone: all four")
      ->check(CLI::IsMember(shape_names()));
  app.add_option("--nv", o.nv, "DoFs of synthetic trees; again for more. With --shape alone: seven sizes from 27 to 256")
      ->check(CLI::Number)
      ->check(CLI::Range(1, kMostDofs));
  app.add_option("--worlds", o.nworld, "Default: what fits the cache, 16 to 64; up to 8192 on a GPU")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--device", o.device, "cuda needs a build with it, and a GPU")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  app.add_option("--precision", o.precision, "Of all but mujoco, which is always in f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  app.add_option("--rounds", o.rounds, "Each times every method once")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--json", o.json, "Write the result there; - is stdout");
  app.add_flag("--progress", o.progress, "Show progress where stderr is not a terminal, too");
  std::string command = "bench_factor";
  for (int i = 1; i < argc; i++) command += std::string(" ") + argv[i];
  try {
    app.parse(argc, argv);
    return run(o, command);
  } catch (const CLI::Success& e) { return app.exit(e); } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_factor: %s\n", e.what());
    return 3;
  }
}
