#include "cpu/env.h"
#include "eval/mujoco_physics.h"

namespace stance {

std::unique_ptr<Env<double>> make_mujoco_env(const Body& body, const EnvOptions& o) {
  return std::make_unique<CpuEnv<batchsim::Exact<double>, MujocoPhysics>>(body, o);
}

}  // namespace stance
