#include "eval/evaluate.h"

#include <algorithm>
#include <cmath>

#include "ppo/learner.h"
#include "task.h"

namespace stance {
namespace {

void check_fits(const Body& body, const Policy& p) {
  if (p.nobs == body.nobs() && p.nact == body.nact()) return;
  throw batchsim::Error(batchsim::Error::kInput, "the policy is for '" + p.body + "' (" + std::to_string(p.nobs) +
                                                     " observations, " + std::to_string(p.nact) + " actions), not for '" +
                                                     body.name + "' (" + std::to_string(body.nobs()) + ", " +
                                                     std::to_string(body.nact()) + ")");
}

template <class T>
Evaluation run(Env<T>& env, const Policy& policy, const EvalOptions& o, const std::function<void(int)>& progress) {
  const int n = env.options().nworld;
  PpoSettings one_step;
  one_step.horizon = 1;
  const auto learner = make_learner<T>(policy, one_step, {n, o.nthread, 1}, o.device);
  StepOut<T> out = learner->out(0);
  out.observation = learner->first_observation();
  out.rolling = false;

  env.start(int(task::levels) - 1, false, out.observation);
  for (int t = 0; t < int(task::episode_steps); t++) {
    if (progress) progress(t);
    env.step(o.zero_action ? nullptr : learner->mean_action(), out);
  }
  const EnvStats s = env.take_stats();
  const auto rms = [&](double sum) { return std::sqrt(sum / std::max<int64_t>(s.steps, 1)); };
  Evaluation e;
  e.episodes = n;
  e.falls = int(s.falls);
  e.mean_length = task::control_step * s.length / n;
  e.reward = s.reward / std::max<int64_t>(s.steps, 1);
  e.balance = rms(s.balance), e.pose = rms(s.pose), e.height = rms(s.height), e.tilt = rms(s.tilt), e.soles = rms(s.soles);
  e.bad_states = int(s.bad_states);
  return e;
}

}  // namespace

Evaluation evaluate(const Body& body, const Policy& policy, const EvalOptions& given, const std::function<void(int)>& progress) {
  check_fits(body, policy);
  EvalOptions o = given;
  if (!o.nworld) o.nworld = int(task::eval_worlds);
  if (!o.seed) o.seed = uint64_t(task::eval_seed);
  const EnvOptions env{.nworld = o.nworld,
                       .device = o.device,
                       .nthread = o.nthread,
                       .nconmax = o.nconmax,
                       .njmax = o.njmax,
                       .seed = o.seed,
                       .shove_factor = o.shove_factor,
                       .first_only = true};
  if (o.mujoco) return run(*make_mujoco_env(body, env), policy, o, progress);
  return run(*make_env<float>(body, env), policy, o, progress);
}

}  // namespace stance
