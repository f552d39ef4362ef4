#include <cstdio>
#include <memory>

#include "commands/bar.h"
#include "commands/commands.h"
#include "commands/interrupt.h"

namespace stance {

void add_train(CLI::App& app, int& exit_code) {
  struct Options {
    RunOptions run;
    std::string precision = "f32", reference = "merged", graph = "all";
    double price = 0;
  };
  const auto o = std::make_shared<Options>();
  RunOptions& r = o->run;
  r.out = "stance_run";
  CLI::App* sub = app.add_subcommand("train", "Trains until it is solved; writes log.csv, TensorBoard events and checkpoint.bss");
  CLI::Option* resume = sub->add_flag("--resume", r.resume, "Go on with the run in --out, bit for bit as if it had not stopped");
  sub->add_option("--body", r.body, "stick, simple, muscular, or the path of an MJCF file that is built like them")
      ->capture_default_str()
      ->excludes(resume);
  sub->add_option("--seed", r.seed, "Of weights, noise, resets and shoves")
      ->check(is_seed)
      ->capture_default_str()
      ->excludes(resume);
  sub->add_option("--nconmax", r.nconmax, "Contacts that a world has room for; 0: the model's default")
      ->capture_default_str()
      ->excludes(resume);
  sub->add_option("--njmax", r.njmax, "Constraint rows that a world has room for; 0: the model's default")
      ->capture_default_str()
      ->excludes(resume);
  sub->add_option("--worlds", r.nworld, "Worlds; unless given, the body's default")
      ->check(CLI::Range(1, 1000000))
      ->excludes(resume);
  sub->add_option("--device", r.device, "cpu, cuda or cuda:N")->capture_default_str()->excludes(resume);
  sub->add_option("--precision", o->precision, "f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str()
      ->excludes(resume);
  sub->add_option("--reference", o->reference,
                  "merged or separate: one look-up a step for all tables of the reference, or one a table")
      ->check(CLI::IsMember({"merged", "separate"}))
      ->capture_default_str()
      ->excludes(resume);
  sub->add_option("--graph", o->graph, "In CUDA: none, update, step or all: what is captured in a graph and launched in one")
      ->check(CLI::IsMember({"none", "update", "step", "all"}))
      ->capture_default_str();
  sub->add_option("--ppo", r.ppo, "PPO's settings, name=value each, with commas; a wrong name lists them")
      ->delimiter(',')
      ->excludes(resume);
  sub->add_option("--threads", r.nthread, "Threads on the CPU; 0: one a logical processor")->capture_default_str();
  sub->add_option("--max-minutes", r.max_minutes, "Stop, unsolved, after this time; 0: no limit")->capture_default_str();
  sub->add_option("--iterations", r.iterations, "Stop after this many; 0: no limit")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  sub->add_option("--checkpoint-every", r.checkpoint_every, "Iterations between checkpoints")->capture_default_str();
  sub->add_option("--examine", r.examine,
                  "Episodes that the policy is examined by, without noise, before it counts as solved; 0: none")
      ->capture_default_str();
  sub->add_option("--out", r.out, "Folder of the run")->capture_default_str();
  sub->add_option("--price", o->price, "Of an hour of this machine: shows what the run costs")->check(CLI::Range(0.0, 1e6));
  sub->callback([o, &exit_code] {
    RunOptions& run = o->run;
    run.f64 = o->precision == "f64";
    run.graphs = {o->graph == "step" || o->graph == "all", o->graph == "update" || o->graph == "all"};
    run.separate_tables = o->reference == "separate";
    const Interrupt interrupt;
    RunResult result;
    {
      Bar bar("training", o->price);
      result = train(
          run, [&](const Shown& s) { bar.show(s); }, [] { return Interrupt::asked(); });
    }
    const std::string spent = std::to_string(result.iterations) + " iterations, " + std::to_string(result.control_steps) +
                              " control steps, " + duration(result.seconds, o->price);
    const Evaluation& e = result.examination;
    const std::string examined =
        e.episodes ? "; without noise " + std::to_string(e.falls) + " of " + std::to_string(e.episodes) + " episodes fall" : "";
    if (result.solved)
      std::printf("SOLVED after %s%s; the policy is in %s\n", spent.c_str(), examined.c_str(), run.out.c_str());
    else
      std::printf("not solved after %s%s; go on with: stance train --resume --out %s\n", spent.c_str(),
                  result.interrupted ? " (interrupted)" : "", run.out.c_str());
    exit_code = result.solved ? kSolved : kNotSolved;
  });
}

}  // namespace stance
