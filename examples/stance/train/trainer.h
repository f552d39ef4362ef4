// Training: rollouts and updates in turn, iteration by iteration.
#pragma once

#include <memory>

#include "env/env.h"
#include "io/checkpoint.h"
#include "ppo/learner.h"
#include "queue.h"
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

/// Which work is captured in a CUDA graph.
struct Graphs {
  bool step = true, update = true;
};

template <class T>
class Trainer {
 public:
  /// A new run.
  Trainer(const Body& body, const PpoSettings& settings, EnvOptions options, Graphs graphs = {})
      : settings_(settings), queue_(make_queue(options.device)), curriculum_(options.nworld, settings.horizon) {
    options.stream = queue_->stream();
    env_ = make_env<T>(body, options);
    learner_ = make_learner<T>(new_policy(body.name, body.nobs(), body.nact(), settings, options.seed), settings,
                               {options.nworld, options.nthread, options.seed, env_->now(), queue_->stream()}, options.device);
    step_ = queue_->make_graph(graphs.step);
    update_ = queue_->make_graph(graphs.update);
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

  /// The same from a trainer in memory.
  void adopt(const Trainer& other) {
    env_->restore(other.env_->save());
    learner_->restore(other.learner_->save());
    curriculum_.restore(other.curriculum_.save());
  }

  Env<T>& env() { return *env_; }
  const Learner<T>& learner() const { return *learner_; }
  const Curriculum& curriculum() const { return curriculum_; }

  Iteration iterate() {
    Iteration it;
    it.index = curriculum_.iteration();
    it.level = curriculum_.level();
    queue_->mark(0);
    for (int t = 0; t < settings_.horizon; t++)
      step_->run([&] { env_->step(learner_->act(t, uint32_t(it.index) * settings_.horizon + t + 1), learner_->out(t)); });
    queue_->mark(1);
    update_->run([&] { learner_->update(uint32_t(it.index)); });
    queue_->mark(2);
    // the only time that the host waits
    it.env = env_->take_stats();
    it.update = learner_->take_stats();
    it.rollout_seconds = queue_->seconds(0, 1), it.update_seconds = queue_->seconds(1, 2);

    curriculum_.add(it.env);
    env_->set_level(curriculum_.level());
    it.episodes = curriculum_.episodes();
    it.control_steps = int64_t(it.index + 1) * settings_.horizon * env_->options().nworld;
    it.solved = curriculum_.solved();
    return it;
  }

 private:
  PpoSettings settings_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Env<T>> env_;
  std::unique_ptr<Learner<T>> learner_;
  std::unique_ptr<Graph> step_, update_;
  Curriculum curriculum_;
};

}  // namespace stance
