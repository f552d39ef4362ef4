// Training: rollouts and updates in turn, iteration by iteration.
#pragma once

#include <chrono>
#include <memory>

#include "env/env.h"
#include "io/checkpoint.h"
#include "ppo/learner.h"
#include "train/curriculum.h"

namespace stance {

struct Iteration {
  int index = 0;
  int64_t control_steps = 0;  ///< of all worlds, since the start
  int level = 0;              ///< that its episodes were started at
  EnvStats env;
  UpdateStats update;
  Curriculum::Episodes episodes;  ///< of the curriculum's window
  double rollout_seconds = 0, update_seconds = 0;
  bool solved = false;
};

template <class T>
class Trainer {
 public:
  /// A new run.
  Trainer(const Body& body, const PpoSettings& settings, const EnvOptions& options)
      : settings_(settings),
        env_(make_env<T>(body, options)),
        learner_(make_learner<T>(new_policy(body.name, body.nobs(), body.nact(), settings, options.seed), settings,
                                 {options.nworld, options.nthread, options.seed}, options.device)),
        curriculum_(options.nworld, settings.horizon) {
    env_->start(0, true, learner_->first_observation());
    learner_->begin();
  }

  /// Everything that later iterations depend on; restore() of the same gives the same bits from there on.
  void save(CheckpointWriter& to) const {
    to.put("env", env_->save());
    to.put("learner", learner_->save());
    to.put("curriculum", curriculum_.save());
  }
  void restore(const CheckpointReader& from) {
    env_->restore(from.get<std::vector<double>>("env"));
    learner_->restore(from.get<std::vector<double>>("learner"));
    curriculum_.restore(from.get<std::vector<double>>("curriculum"));
  }

  Env<T>& env() { return *env_; }
  const Learner<T>& learner() const { return *learner_; }
  const Curriculum& curriculum() const { return curriculum_; }

  Iteration iterate() {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
    Iteration it;
    it.index = curriculum_.iteration();
    it.level = curriculum_.level();
    const auto begin = Clock::now();
    for (int t = 0; t < settings_.horizon; t++)
      env_->step(learner_->act(t, uint32_t(it.index) * settings_.horizon + t + 1), learner_->out(t));
    it.env = env_->take_stats();
    const auto rolled = Clock::now();
    it.update = learner_->update(uint32_t(it.index));
    it.rollout_seconds = seconds(rolled - begin);
    it.update_seconds = seconds(Clock::now() - rolled);

    curriculum_.add(it.env);
    env_->set_level(curriculum_.level());
    it.episodes = curriculum_.episodes();
    it.control_steps = int64_t(it.index + 1) * settings_.horizon * env_->options().nworld;
    it.solved = curriculum_.solved();
    return it;
  }

 private:
  PpoSettings settings_;
  std::unique_ptr<Env<T>> env_;
  std::unique_ptr<Learner<T>> learner_;
  Curriculum curriculum_;
};

}  // namespace stance
