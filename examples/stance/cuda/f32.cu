#define BS_ISA cuda
#include "cuda/env.cuh"
#include "cuda/learner.cuh"

namespace stance {

template <>
std::unique_ptr<Env<float>> make_cuda_env(const Body& body, const EnvOptions& o) {
  return std::make_unique<CudaEnv<float>>(body, o);
}
template <>
std::unique_ptr<Learner<float>> make_cuda_learner(const Policy& start, const PpoSettings& s, const LearnerOptions& o) {
  return std::make_unique<CudaLearner<float>>(start, s, o);
}

}  // namespace stance
