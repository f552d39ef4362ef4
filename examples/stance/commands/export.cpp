#include <cstdio>
#include <memory>

#include "commands/commands.h"
#include "io/onnx.h"
#include "train/run.h"

namespace stance {

void add_export(CLI::App& app, int& exit_code) {
  struct Options {
    std::string policy = "stance_run", out = "policy.onnx";
  };
  const auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("export", "Writes the policy as ONNX, its normaliser included");
  sub->add_option("policy", o->policy, "A checkpoint, or the folder of a run")->capture_default_str();
  sub->add_option("--out", o->out, "The file")->capture_default_str();
  sub->callback([o, &exit_code] {
    const Trained trained = load_trained(o->policy);
    export_onnx(o->out, trained.policy,
                "observation and action as in docs/stance.md: raw observations, mean actions in units of the joints' scales");
    std::printf("%s: observation (batch, %d) -> action (batch, %d), after %.0f iterations\n", o->out.c_str(), trained.policy.nobs,
                trained.policy.nact, trained.iterations);
    exit_code = kSolved;
  });
}

}  // namespace stance
