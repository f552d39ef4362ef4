// The task's evaluation: one episode a world with mean actions, at the last level, shoved.
#pragma once

#include <functional>

#include "env/env.h"
#include "policy.h"

namespace stance {

struct EvalOptions {
  int nworld = 0;     ///< 0: the task's number
  uint64_t seed = 0;  ///< 0: the task's seed
  double shove_factor = 1;
  bool zero_action = false;  ///< instead of the policy's
  bool mujoco = false;       ///< step with MuJoCo, in double
  std::string device = "cpu";
  int nthread = 1;
  int nconmax = 0, njmax = 0;  ///< contacts and constraint rows that a world has room for; 0: the model's default
};

struct Evaluation {
  int episodes = 0, falls = 0, bad_states = 0;
  double mean_length = 0;  ///< s
  double reward = 0;       ///< mean of a control step before a fall, 0 ... 1
  double balance = 0, pose = 0, height = 0, tilt = 0,
         soles = 0;  ///< root mean squares of the errors before a fall; m, rad, m, rad, m
  double fall_share() const { return double(falls) / episodes; }
};

/// progress(control step) is called now and then. Throws batchsim::Error if the policy is not for this body.
Evaluation evaluate(const Body& body, const Policy& policy, const EvalOptions& options,
                    const std::function<void(int)>& progress = {});

}  // namespace stance
