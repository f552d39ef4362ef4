// What may be tuned: proximal policy optimisation (Schulman et al. 2017), as rsl_rl and others run it on many worlds.
#pragma once

#include <string>
#include <vector>

namespace stance {

struct PpoSettings {
  int horizon = 32;                    ///< control steps an iteration
  std::vector<int> hidden = {64, 64};  ///< units of the hidden layers, actor and critic alike
  double log_std = -1.6;               ///< of the noise at first; learned, the same in all states
  double actor_rate = 5e-4;            ///< Adam's rate at first; adapted to the KL divergence
  double least_rate = 2e-5, most_rate = 2e-3;
  double rate_factor = 1.2;  ///< by which it changes
  double target_kl = 0.015;  ///< faster under half of it, slower over 1.5 times
  double stop_kl = 3;        ///< an update stops after an epoch whose last minibatch is beyond this times the target
  double critic_rate = 1e-3;
  double gamma = 0.97, lambda = 0.95;  ///< discount; of generalised advantage estimation
  double clip = 0.2;                   ///< of the probability ratio
  double entropy = 0;                  ///< weight of the entropy bonus
  double grad_norm = 1;                ///< gradients of actor and critic are cut to this
  int epochs = 5, minibatches = 4;
};

/// What a body learns with unless told otherwise.
PpoSettings default_settings(bool stick);
int default_worlds(bool stick);

}  // namespace stance
