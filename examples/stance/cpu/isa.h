// Defines the factories of cpu/cpu.h for one instruction set: BS_ISA, with packs of STANCE_WIDTH floats.
#include "cpu/batch_physics.h"
#include "cpu/cpu.h"
#include "cpu/env.h"
#include "cpu/learner.h"

namespace stance {

using batchsim::Exact;
using batchsim::Packs;

#define STANCE_NAME2(a, isa) a##isa
#define STANCE_NAME(a, isa) STANCE_NAME2(a, isa)

std::unique_ptr<Env<float>> STANCE_NAME(env_f32_, BS_ISA)(const Body& b, const EnvOptions& o) {
  return std::make_unique<CpuEnv<Packs<float, STANCE_WIDTH>, BatchPhysics<float>>>(b, o);
}
std::unique_ptr<Env<double>> STANCE_NAME(env_f64_, BS_ISA)(const Body& b, const EnvOptions& o) {
  return std::make_unique<CpuEnv<Exact<double>, BatchPhysics<double>>>(b, o);
}
std::unique_ptr<Learner<float>> STANCE_NAME(learner_f32_, BS_ISA)(const Policy& p, const PpoSettings& s, const LearnerOptions& o) {
  return std::make_unique<CpuLearner<Packs<float, STANCE_WIDTH>>>(p, s, o);
}
std::unique_ptr<Learner<double>> STANCE_NAME(learner_f64_, BS_ISA)(const Policy& p, const PpoSettings& s, const LearnerOptions& o) {
  return std::make_unique<CpuLearner<Exact<double>>>(p, s, o);
}

}  // namespace stance
