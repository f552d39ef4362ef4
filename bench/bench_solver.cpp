// bench_solver [--model FILE]... [--situation stand|gentle|heap]... [--worlds N] [--rounds N] [--json FILE]
//
// The constraint solver in packs against MuJoCo's. MuJoCo brings each world to the moment before the solver; then mj_fwdConstraint is
// timed there, after MuJoCo's own stages, in turn with the tiles that take the same inputs, in scratch that another tile has just
// used, as in a step. The least of the rounds counts, a world or
// a tile at a time, by the steady clock. Assembly: make_constraint and the layout, against mj_makeConstraint with mj_projectConstraint
// and mj_referenceConstraint. Error: hinge angles after one step of MuJoCo's integrator with our qacc, against the step of MuJoCo's
// solver with its tolerance at 1e-15.
//
// Without arguments: the committed bodies, standing and in a heap. Two shared cores, Zen 3, 8 float lanes, 64 worlds, 10 rounds: gain of the
// solver stand, heap: stick 6.1, 8.7; simple 8.7, 6.2; muscular 6.8, 4.5 (5.7 when the machine is quieter); with rows and layout
// against solver and assembly, muscular 6.0, 3.6 (4.6); worst hinge error of a step 2e-8 rad.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "common/models.h"
#include "common/solver_tile.h"
#include "model/compile.h"

using namespace batchsim;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
template <class F>
double timed(F f) {
  const double t0 = now();
  f();
  return now() - t0;
}
void keep_least(double& least, double x) { least = least == 0 ? x : std::min(least, x); }

struct World {
  SolverState state;
  SolverInput input;
  std::vector<double> step;  // qpos after the converged step
  double solver = 0, assembly = 0;
  int niter = 0, nefc = 0;
};

void converge(mjModel* m) { m->opt.tolerance = 1e-15, m->opt.iterations = 200, m->opt.ls_iterations = 200; }

void integrate(const mjModel* m, mjData* d) { m->opt.integrator == mjINT_EULER ? mj_Euler(m, d) : mj_implicit(m, d); }

struct Row {
  std::string model, situation, kernel;
  double us, gain, assembly_us, layout_us, assembly_gain, iterations, tile_iterations, slots, filled, limits, nH, median, p99,
      worst;
};

Row run(mjModel* m, mjData* d, std::vector<World>& worlds, SolverTile& tile, int rounds) {
  const int n = tile.width(), ntile = int(worlds.size()) / n;
  std::vector<double> solve(ntile, 0), assemble(ntile, 0), layout(ntile, 0), error;
  Row r{};
  for (int round = 0; round < rounds; round++)
    for (int k = 0; k < ntile; k++) {
      for (int l = 0; l < n; l++) {
        World& w = worlds[k * n + l];
        load_state(m, d, w.state);
        before_solver(m, d);
        keep_least(w.solver, timed([&] { mj_fwdConstraint(m, d); }));
        w.niter = d->nefc ? *std::max_element(d->solver_niter, d->solver_niter + std::max(1, int(d->nisland))) : 0;
        load_state(m, d, w.state);
        before_solver(m, d);
        keep_least(w.assembly, timed([&] { mj_makeConstraint(m, d), mj_projectConstraint(m, d), mj_referenceConstraint(m, d); }));
      }
      // as in a step of many tiles: the scratch was the last tile's, the inputs come from the stages before
      const int last = (k + 1) % ntile;
      for (int l = 0; l < n; l++) tile.load(l, worlds[last * n + l].input);
      tile.assemble(), tile.solve();
      for (int l = 0; l < n; l++) tile.load(l, worlds[k * n + l].input);
      keep_least(assemble[k], timed([&] { tile.assemble(); }));
      keep_least(layout[k], timed([&] { tile.layout(); }));
      keep_least(solve[k], timed([&] { tile.solve(); }));
      if (round) continue;
      const TileCounts c = tile.counts();
      r.slots += double(c.slots) / ntile, r.filled += double(c.rows) / n / ntile, r.limits += double(c.limits) / ntile,
          r.nH += double(c.nH) / ntile;
      int most = 0;
      for (int l = 0; l < n; l++) {
        World& w = worlds[k * n + l];
        const SolverOutput o = tile.output(l);
        r.iterations += double(o.niter) / n / ntile;
        most = std::max(most, o.niter);
        load_state(m, d, w.state);
        before_solver(m, d);
        mj_fwdConstraint(m, d);
        mju_copy(d->qacc, o.qacc.data(), m->nv);
        mju_copy(d->qfrc_constraint, o.qfrc_constraint.data(), m->nv);
        integrate(m, d);
        double e = 0;
        for (int i = 7; i < m->nq; i++) e = std::isfinite(d->qpos[i]) ? std::max(e, std::abs(d->qpos[i] - w.step[i])) : 1e9;
        error.push_back(e);
      }
      r.tile_iterations += double(most) / ntile;
    }
  double ours = 0, theirs = 0, assembly = 0;
  for (int k = 0; k < ntile; k++) {
    ours += solve[k] - layout[k], r.assembly_us += assemble[k] * 1e6 / (ntile * n), r.layout_us += layout[k] * 1e6 / (ntile * n);
    for (int l = 0; l < n; l++) theirs += worlds[k * n + l].solver, assembly += worlds[k * n + l].assembly;
  }
  std::sort(error.begin(), error.end());
  r.kernel = tile.name(), r.us = ours * 1e6 / (ntile * n), r.gain = theirs / ours;
  r.assembly_gain = assembly * 1e6 / (ntile * n) / (r.assembly_us + r.layout_us);
  r.median = error[error.size() / 2], r.p99 = error[error.size() * 99 / 100], r.worst = error.back();
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> models, situations;
  int nworld = 128, rounds = 5;
  std::string json;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--model")
      models.push_back(value);
    else if (key == "--situation")
      situations.push_back(value);
    else if (key == "--worlds")
      nworld = std::max(16, std::atoi(value.c_str()) / 16 * 16);
    else if (key == "--rounds")
      rounds = std::atoi(value.c_str());
    else if (key == "--json")
      json = value;
    else
      return std::fprintf(stderr, "bench_solver: unknown option %s\n", key.c_str()), 3;
  }
  if (models.empty())
    for (const char* body : {"stick.xml", "simple.xml", "muscular.xml"}) models.push_back(tools::find_model(body));
  if (situations.empty()) situations = {"stand", "heap"};

#ifdef BATCHSIM_X86
  if (!__builtin_cpu_supports("avx2")) return std::fprintf(stderr, "bench_solver: this processor has no AVX2\n"), 3;
#endif
  std::vector<Row> rows;
  for (const std::string& file : models)
    for (const std::string& situation : situations) {
      char error[1000] = "";
      mjModel* m = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
      if (!m) return std::fprintf(stderr, "bench_solver: %s\n", error), 3;
      const FlatModel flat = compile(m, file);
      mjData* d = mj_makeData(m);
      std::vector<World> worlds;
      double nefc = 0, ncon = 0, iterations = 0;
      for (const SolverState& s : solver_states(m, situation, nworld)) {
        World w;
        w.state = s;
        load_state(m, d, s);
        before_solver(m, d);
        w.input = solver_input(m, flat, d);
        w.nefc = d->nefc;
        nefc += double(d->nefc) / nworld, ncon += double(d->ncon) / nworld;
        const mjOption option = m->opt;
        converge(m);
        mj_fwdConstraint(m, d);
        integrate(m, d);
        w.step.assign(d->qpos, d->qpos + m->nq);
        m->opt = option;
        worlds.push_back(w);
      }
      const int nconmax = 64, njmax = 512;
      using Make = std::unique_ptr<SolverTile> (*)(const FlatModel&, int, int);
      std::vector<Make> kernels{solver_tile_exact, solver_tile_f64_avx2, solver_tile_f32_avx2};
#ifdef BATCHSIM_X86
      if (__builtin_cpu_supports("avx512f")) kernels.push_back(solver_tile_f32_avx512);
#endif
      const size_t first_row = rows.size();
      for (Make make : kernels) {
        const std::unique_ptr<SolverTile> tile = make(flat, nconmax, njmax);
        Row r = run(m, d, worlds, *tile, rounds);
        r.model = m->names, r.situation = situation;
        rows.push_back(r);
      }
      double theirs = 0, assembly = 0;
      for (const World& w : worlds)
        theirs += w.solver / nworld, assembly += w.assembly / nworld, iterations += double(w.niter) / nworld;
      std::printf("%s %s: nv %d, %.1f contacts, %.1f rows; MuJoCo: solver %.1f us, assembly %.1f us, %.1f iterations\n", m->names,
                  situation.c_str(), int(m->nv), ncon, nefc, theirs * 1e6, assembly * 1e6, iterations);
      for (size_t i = first_row; i < rows.size(); i++) {
        const Row& r = rows[i];
        std::printf(
            "  %-15s solver %6.2f us %5.2fx | rows %5.2f + layout %5.2f us %5.2fx | iterations lane %.2f tile %.2f | slots %.0f "
            "(%.0f used) limits %.0f nH %.0f | step error median %.0e p99 %.0e worst %.0e\n",
            r.kernel.c_str(), r.us, r.gain, r.assembly_us, r.layout_us, r.assembly_gain, r.iterations, r.tile_iterations, r.slots,
            r.filled, r.limits, r.nH, r.median, r.p99, r.worst);
      }
      std::fflush(stdout);
      mj_deleteData(d);
      mj_deleteModel(m);
    }
  if (!json.empty()) {
    std::ofstream out(json);
    out << "[\n";
    for (size_t i = 0; i < rows.size(); i++) {
      const Row& r = rows[i];
      out << "  {\"model\": \"" << r.model << "\", \"situation\": \"" << r.situation << "\", \"kernel\": \"" << r.kernel
          << "\", \"us\": " << r.us << ", \"gain\": " << r.gain << ", \"rows_us\": " << r.assembly_us
          << ", \"layout_us\": " << r.layout_us << ", \"iterations\": " << r.iterations
          << ", \"tile_iterations\": " << r.tile_iterations << ", \"slots\": " << r.slots << ", \"p99\": " << r.p99
          << ", \"worst\": " << r.worst << "}" << (i + 1 < rows.size() ? ",\n" : "\n");
    }
    out << "]\n";
  }
}
