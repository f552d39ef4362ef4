#define BS_ISA cuda
#include "cuda/env.cuh"
#include "cuda/learner.cuh"

namespace stance {

template <>
std::unique_ptr<Env<double>> make_cuda_env(const Body& body, const EnvOptions& o) {
  return std::make_unique<CudaEnv<double>>(body, o);
}
template <>
std::unique_ptr<Learner<double>> make_cuda_learner(const Policy& start, const PpoSettings& s, const LearnerOptions& o) {
  return std::make_unique<CudaLearner<double>>(start, s, o);
}

}  // namespace stance
