#include <unistd.h>

#include <cstdio>
#include <memory>
#include <thread>

#include "commands/commands.h"
#include "eval/evaluate.h"
#include "task.h"
#include "train/run.h"

namespace stance {

void add_eval(CLI::App& app, int& exit_code) {
  struct Options {
    std::string policy = "stance_run", body, engine = "batchsim";
    bool table = false;
    EvalOptions eval;
  };
  const auto o = std::make_shared<Options>();
  CLI::App* sub =
      app.add_subcommand("eval", "One episode a world with mean actions, at full amplitude, shoved: how often does it fall?");
  sub->add_option("policy", o->policy, "A checkpoint, or the folder of a run")->capture_default_str();
  sub->add_option("--body", o->body, "Another model than the one that it was trained with");
  sub->add_option("--worlds", o->eval.nworld, "Episodes; unless given, the task's number")->check(CLI::Range(1, 1000000));
  sub->add_option("--seed", o->eval.seed, "Of resets and shoves; 0: the task's")->check(is_seed)->capture_default_str();
  sub->add_option("--shove", o->eval.shove_factor, "Times the task's force")->check(CLI::Range(0.0, 100.0))->capture_default_str();
  sub->add_option("--device", o->eval.device, "cpu, cuda or cuda:N")->capture_default_str();
  sub->add_option("--nconmax", o->eval.nconmax, "Contacts that a world has room for; 0: the model's default")
      ->capture_default_str();
  sub->add_option("--njmax", o->eval.njmax, "Constraint rows that a world has room for; 0: the model's default")
      ->capture_default_str();
  sub->add_option("--engine", o->engine, "batchsim or mujoco: who steps")
      ->check(CLI::IsMember({"batchsim", "mujoco"}))
      ->capture_default_str();
  sub->add_option("--threads", o->eval.nthread, "Threads on the CPU; 0: one a logical processor")->check(CLI::Range(0, 4096));
  sub->add_flag("--zero", o->eval.zero_action, "No action instead of the policy's: the servos follow the reference");
  sub->add_flag("--table", o->table, "The whole evaluation: the policy, zero action, shoves times 1.5, and MuJoCo's stepping");
  sub->callback([o, &exit_code] {
    const Trained trained = load_trained(o->policy);
    const Body body = load_body(o->body.empty() ? trained.body : o->body);
    EvalOptions eval = o->eval;
    eval.mujoco = o->engine == "mujoco";
    if (!eval.nthread) eval.nthread = int(std::max(1u, std::thread::hardware_concurrency()));

    std::printf("%-8s  %-26s  %8s  %6s  %8s  %7s  %s\n", body.name.c_str(), "", "episodes", "falls", "length", "reward",
                "RMS errors: balance, pose, height, tilt, soles");
    const auto line = [&](const char* what, const EvalOptions& options) {
      const bool terminal = isatty(STDERR_FILENO);
      const Evaluation e = evaluate(body, trained.policy, options, [&](int step) {
        if (terminal && step % 10 == 0) std::fprintf(stderr, "\r%s: %3.0f%%\033[K", what, 100 * step / task::episode_steps);
      });
      if (terminal) std::fputs("\r\033[K", stderr);
      std::printf("%-8s  %-26s  %8d  %5.1f%%  %6.2f s  %7.3f  %.3f m  %.3f rad  %.4f m  %.3f rad  %.3f m\n", "", what, e.episodes,
                  100 * e.fall_share(), e.mean_length, e.reward, e.balance, e.pose, e.height, e.tilt, e.soles);
      std::fflush(stdout);
      return e;
    };
    const char* who = eval.zero_action ? "zero action" : eval.mujoco ? "policy, stepped by MuJoCo" : "policy";
    const Evaluation e = line(who, eval);
    if (o->table) {
      EvalOptions zero = eval, harder = eval, mujoco = eval;
      zero.zero_action = true, harder.shove_factor *= 1.5;
      mujoco.mujoco = true, mujoco.device = "cpu";
      line("zero action", zero);
      line("policy, shoves x 1.5", harder);
      line("policy, stepped by MuJoCo", mujoco);
    }
    exit_code = e.fall_share() <= task::solved_fall ? kSolved : kNotSolved;
  });
}

}  // namespace stance
