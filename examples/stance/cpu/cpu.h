// Environment and learner on the CPU, by instruction set; the file of each instruction set is cpu/<its name>.cpp.
#pragma once

#include "env/env.h"
#include "ppo/learner.h"

namespace stance {

#define STANCE_FACTORIES(isa)                                                                                  \
  std::unique_ptr<Env<float>> env_f32_##isa(const Body&, const EnvOptions&);                                   \
  std::unique_ptr<Env<double>> env_f64_##isa(const Body&, const EnvOptions&);                                  \
  std::unique_ptr<Learner<float>> learner_f32_##isa(const Policy&, const PpoSettings&, const LearnerOptions&); \
  std::unique_ptr<Learner<double>> learner_f64_##isa(const Policy&, const PpoSettings&, const LearnerOptions&);
STANCE_FACTORIES(baseline)
STANCE_FACTORIES(avx2)
STANCE_FACTORIES(avx512)
#undef STANCE_FACTORIES

}  // namespace stance
