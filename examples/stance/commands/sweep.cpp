#include <batchsim/error.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "commands/bar.h"
#include "commands/commands.h"
#include "commands/interrupt.h"
#include "io/csv.h"

namespace stance {

void add_sweep(CLI::App& app, int& exit_code) {
  struct Options {
    RunOptions run;
    std::vector<int> worlds = {64, 128, 256};
    std::vector<uint64_t> seeds = {1};
    double price = 0;
  };
  const auto o = std::make_shared<Options>();
  o->run.out = "stance_sweep";
  CLI::App* sub = app.add_subcommand("sweep", "Trains with several numbers of worlds: time and cost to solved; plot.py draws it");
  sub->add_option("--worlds", o->worlds, "Numbers of worlds, with commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  sub->add_option("--seeds", o->seeds, "A run each, with commas")->delimiter(',')->check(is_seed)->capture_default_str();
  sub->add_option("--body", o->run.body, "stick, simple, muscular, or a path")->capture_default_str();
  sub->add_option("--ppo", o->run.ppo, "PPO's settings, name=value each, with commas; a wrong name lists them")->delimiter(',');
  sub->add_option("--device", o->run.device, "cpu, cuda or cuda:N")->capture_default_str();
  sub->add_option("--threads", o->run.nthread, "Threads on the CPU; 0: one a logical processor")->capture_default_str();
  sub->add_option("--max-minutes", o->run.max_minutes, "Of each run; 0: no limit")->capture_default_str();
  sub->add_option("--out", o->run.out, "Folder of the runs and of sweep.csv")->capture_default_str();
  sub->add_option("--price", o->price, "Of an hour of this machine")->check(CLI::Range(0.0, 1e6));
  sub->callback([o, &exit_code] {
    const std::string folder = o->run.out;
    if (std::filesystem::exists(folder + "/sweep.csv"))
      throw batchsim::Error(batchsim::Error::kInput, folder + " holds a sweep already; name another folder with --out");
    const Interrupt interrupt;
    std::unique_ptr<Csv> csv;
    bool all_solved = true;
    std::printf("%8s  %5s  %7s  %10s  %13s  %14s  %10s  %s\n", "worlds", "seed", "solved", "iterations", "control steps",
                "s an iteration", "seconds", o->price > 0 ? "cost" : "");
    for (const int worlds : o->worlds)
      for (const uint64_t seed : o->seeds) {
        RunOptions run = o->run;
        run.nworld = worlds, run.seed = seed;
        run.out = folder + "/worlds_" + std::to_string(worlds) + "_seed_" + std::to_string(seed);
        RunResult r;
        {
          Bar bar(std::to_string(worlds) + " worlds, seed " + std::to_string(seed), o->price);
          r = train(
              run, [&](const Shown& s) { bar.show(s); }, [] { return Interrupt::asked(); });
        }
        all_solved = all_solved && r.solved;
        const double cost = o->price * r.seconds / 3600;
        std::printf("%8d  %5llu  %7s  %10d  %13lld  %14.3f  %10.1f", worlds, static_cast<unsigned long long>(seed),
                    r.solved ? "yes" : "no", r.iterations, static_cast<long long>(r.control_steps),
                    r.seconds / std::max(1, r.iterations), r.seconds);
        std::printf(o->price > 0 ? "  %.4f\n" : "\n", cost);
        std::fflush(stdout);
        if (!csv)
          csv = std::make_unique<Csv>(folder + "/sweep.csv", std::vector<std::string>{"worlds", "seed", "solved", "iterations",
                                                                                      "control_steps", "seconds", "cost"});
        csv->row({double(worlds), double(seed), double(r.solved), double(r.iterations), double(r.control_steps), r.seconds, cost});
        if (r.interrupted) {
          exit_code = kNotSolved;
          return;
        }
      }
    exit_code = all_solved ? kSolved : kNotSolved;
  });
}

}  // namespace stance
