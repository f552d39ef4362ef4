// batchsim_ptx_report: a few calls of the CUDA backend on worlds that stand, each in a section of its own, for an interpreter of PTX
// that counts what the kernels do. `./dev ptx-report` runs it and makes the report; on a GPU it runs, too, and nothing is counted.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/host_rows.h"
#include "common/json.h"
#include "common/models.h"
#include "common/mujoco_log.h"
#include "ptx_report/calls.h"
#include "ptx_report/standing.h"

using namespace batchsim;
using namespace batchsim::tools;

namespace {

struct Options {
  std::string model = "muscular", precision = "f32", only, json;
  int nworld = 4, settle = 60;
};

void report(const Options& o) {
  const Model model = Model::from_file(model_path(o.model));
  const Standing start = standing(model.mjmodel(), o.nworld, o.settle, 0);
  Batch batch(model, {.nworld = o.nworld, .device = "cuda", .precision = o.precision == "f64" ? Precision::f64 : Precision::f32});
  HostRows rows(batch);
  rows.set("qpos", start.qpos);
  rows.set("qvel", start.qvel);
  rows.set("act", start.act);
  rows.set("qacc_warmstart", start.warmstart);
  rows.set("ctrl", start.ctrl);

  Calls calls(batch);
  if (o.only != "factor") calls.step();
  if (o.only != "step") calls.factor();
  if (o.only.empty()) calls.rows();
  const FactorPlan plan = batch.impl().engine->factor_plan();
  const Report after = calls.report();
  const size_t real = o.precision == "f64" ? sizeof(double) : sizeof(float);

  std::printf("%s, %d DoFs, %s, %d worlds on %s\n", model.source().c_str(), model.nv(), o.precision.c_str(), o.nworld,
              batch.device_name().c_str());
  std::printf("MuJoCo, a world: %.1f contacts, %.1f rows, %.1f iterations; here at most %d contacts, %d rows\n", start.ncon,
              start.nefc, start.niter, after.ncon_peak, after.nefc_peak);
  std::printf("factor_m: %s memory, %zu bytes, %d threads a world\n", plan.shared ? "shared" : "the world's own", plan.shared_bytes,
              plan.members);
  std::fputs(after.message().c_str(), stdout);
  JsonFile(o.json).write({{"model", model.source()},
                          {"nv", model.nv()},
                          {"nbody", model.nbody()},
                          {"precision", o.precision},
                          {"worlds", o.nworld},
                          {"contacts", start.ncon},
                          {"rows", start.nefc},
                          {"iterations", start.niter},
                          {"factor_shared", plan.shared},
                          {"factor_bytes", plan.shared_bytes},
                          {"factor_members", plan.members},
                          {"M_bytes", rows.size("M") * real},
                          {"qLD_bytes", rows.size("qLD") * real},
                          {"dof_bytes", model.nv() * real},
                          {"world_bytes", batch.impl().engine->scratch_bytes() / o.nworld}});
}

}  // namespace

int main(int argc, char** argv) {
  tell_mujoco_warnings_once();
  Options o;
  CLI::App app("Calls of the CUDA backend, for an interpreter of PTX to count.", "batchsim_ptx_report");
  app.add_option("model", o.model, "MJCF file, or stick, simple, muscular or muscular_full")->capture_default_str();
  app.add_option("--worlds", o.nworld, "")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--settle", o.settle, "Steps of MuJoCo's from the reset to the worlds' states")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--precision", o.precision, "")->check(CLI::IsMember({"f32", "f64"}))->capture_default_str();
  app.add_option("--only", o.only, "factor: the kernels that factor M and solve with it; step: step and forward")
      ->check(CLI::IsMember({"factor", "step"}));
  app.add_option("--json", o.json, "Write what the kernels worked on there");
  CLI11_PARSE(app, argc, argv);
  try {
    report(o);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
