// The implementations for CUDA; cuda/*.cu
#pragma once

#include "env/env.h"
#include "ppo/learner.h"
#include "queue.h"

namespace stance {

template <class T>
std::unique_ptr<Env<T>> make_cuda_env(const Body& body, const EnvOptions& options);
template <class T>
std::unique_ptr<Learner<T>> make_cuda_learner(const Policy& start, const PpoSettings& settings, const LearnerOptions& options);
std::unique_ptr<Queue> make_cuda_queue(const std::string& device);

}  // namespace stance
