// What may be tuned: proximal policy optimisation (Schulman et al. 2017), as rsl_rl and others run it on many worlds.
#pragma once

#include <string>
#include <vector>

namespace stance {

// X(type, name, value unless a body has its own, what it is)
#define STANCE_PPO(X)                                                                                          \
  X(int, horizon, 32, "control steps an iteration")                                                            \
  X(double, log_std, -1.6, "of the noise at first; learned, the same in all states")                           \
  X(double, actor_rate, 5e-4, "Adam's rate at first; adapted to the KL divergence")                            \
  X(double, least_rate, 2e-5, "its least value")                                                               \
  X(double, most_rate, 2e-3, "its greatest value")                                                             \
  X(double, rate_factor, 1.2, "factor by which it changes")                                                    \
  X(double, target_kl, 0.015, "KL divergence of an update: faster under half of it, slower over 1.5 times")    \
  X(double, stop_kl, 3, "an update stops after an epoch whose last minibatch is beyond this times the target") \
  X(double, critic_rate, 1e-3, "Adam's rate of the critic")                                                    \
  X(double, gamma, 0.97, "discount")                                                                           \
  X(double, lambda, 0.95, "of generalised advantage estimation")                                               \
  X(double, clip, 0.2, "of the probability ratio")                                                             \
  X(double, entropy, 0, "weight of the entropy bonus")                                                         \
  X(double, grad_norm, 1, "gradients of actor and critic are cut to this")                                     \
  X(int, epochs, 5, "passes over a rollout")                                                                   \
  X(int, minibatches, 4, "parts of a pass")

struct PpoSettings {
  std::vector<int> hidden = {64, 64};  ///< units of the hidden layers, actor and critic alike
#define X(type, name, value, doc) type name = value;
  STANCE_PPO(X)
#undef X
};

/// What a body learns with unless told otherwise.
PpoSettings default_settings(bool stick);
int default_worlds(bool stick);

/// Changes a setting by "name=value", hidden by "hidden=256x128". Throws batchsim::Error that lists the names, or what is allowed.
void change_setting(PpoSettings& settings, const std::string& assignment);

}  // namespace stance
