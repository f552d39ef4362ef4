#include <mujoco/mujoco.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "commands/commands.h"
#include "io/file.h"
#include "ppo/learner.h"
#include "record/png.h"
#include "record/renderer.h"
#include "record/sheet.h"
#include "record/video.h"
#include "task.h"
#include "train/run.h"

namespace stance {
namespace {

struct Options {
  std::string policy = "stance_run", body, out = "stance_pictures";
  uint64_t seed = 1;
  double seconds = task::control_step * task::episode_steps, shove = 1;
  int width = 480, height = 480, every = 2;
};

struct Delete {
  void operator()(mjData* d) const { mj_deleteData(d); }
};

void record(const Options& o) {
  const Trained trained = load_trained(o.policy);
  const Body body = load_body(o.body.empty() ? trained.body : o.body);
  const auto env = make_env<float>(body, {.nworld = 1, .seed = o.seed, .shove_factor = o.shove});
  PpoSettings one_step;
  one_step.horizon = 1;
  const auto learner = make_learner<float>(trained.policy, one_step, {.nworld = 1}, "cpu");
  StepOut<float> out = learner->out(0);
  out.observation = learner->first_observation();
  env->start(int(task::levels) - 1, false, out.observation);

  make_folder(o.out);
  const mjModel* m = body.model.mjmodel();
  const std::unique_ptr<mjData, Delete> d(mj_makeData(m));
  Renderer renderer(m, o.width, o.height);
  VideoWriter video(o.out + "/stance.avi", o.width, o.height, int(1 / task::control_step / o.every + 0.5));
  Sheet sheet(body.name + " after " + std::to_string(int(trained.iterations)) + " iterations, shoves x " +
                  std::to_string(o.shove).substr(0, 4),
              6);

  // of the sheet: a bounce at first, then every shove from its start to where the body has caught itself
  const int steps = int(o.seconds / task::control_step + 0.5);
  int since_shove = 1000, falls = 0;
  const bool terminal = isatty(STDERR_FILENO);
  for (int t = 0; t < steps; t++) {
    env->step(learner->mean_action(), out);
    falls += out.reward[0] == float(task::fall_reward);
    const Shove shove = env->shove(0);
    const bool on = shove.x != 0 || shove.y != 0;
    since_shove = on && since_shove > int(task::shove_steps) ? 0 : since_shove + 1;
    const bool picture = (t < 40 && t % 8 == 0) || (since_shove < 48 && since_shove % 8 == 0);
    if (t % o.every && !picture) continue;
    if (terminal && t % 10 == 0) std::fprintf(stderr, "\rdrawing: %3.0f%%\033[K", 100.0 * t / steps);

    env->export_mjdata(0, d.get());
    if (on) {
      const double force[3] = {shove.x, shove.y, 0};
      renderer.arrow(d->xipos + 3 * body.thorax, force);
    } else {
      renderer.clear_arrow();
    }
    Image frame = renderer.frame(d.get());
    if (t % o.every == 0) video.frame(frame);
    if (picture && sheet.frames() < 30) {
      char label[64];
      if (on)
        std::snprintf(label, sizeof label, "t %.2f s  shove %.0f N", (t + 1) * task::control_step, std::hypot(shove.x, shove.y));
      else
        std::snprintf(label, sizeof label, "t %.2f s", (t + 1) * task::control_step);
      sheet.add(std::move(frame), label);
    }
  }
  if (terminal) std::fputs("\r\033[K", stderr);
  video.close();
  write_png(o.out + "/sheet.png", sheet.image());
  std::printf("%s/sheet.png and %s/stance.avi: %.1f s, %d falls, drawn with %s\n", o.out.c_str(), o.out.c_str(),
              steps * task::control_step, falls, renderer.device().c_str());
}

}  // namespace

void add_record(CLI::App& app, int& exit_code) {
  const auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("record", "A contact sheet (sheet.png) and a video (stance.avi) of the policy being shoved");
  sub->add_option("policy", o->policy, "A checkpoint, or the folder of a run")->capture_default_str();
  sub->add_option("--body", o->body, "Another model than the one that it was trained with");
  sub->add_option("--seed", o->seed, "Of start and shoves")->check(is_seed)->capture_default_str();
  sub->add_option("--seconds", o->seconds, "Length")->check(CLI::Range(0.1, 600.0))->capture_default_str();
  sub->add_option("--shove", o->shove, "Times the task's force")->check(CLI::Range(0.0, 100.0))->capture_default_str();
  sub->add_option("--width", o->width, "Pixels")->check(CLI::Range(16, 4096))->capture_default_str();
  sub->add_option("--height", o->height, "Pixels")->check(CLI::Range(16, 4096))->capture_default_str();
  sub->add_option("--out", o->out, "Folder")->capture_default_str();
  sub->callback([o, &exit_code] {
    record(*o);
    exit_code = kSolved;
  });
}

}  // namespace stance
