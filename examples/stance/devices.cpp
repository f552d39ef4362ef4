// Which implementation of environment and learner serves a device.
#include "backend/cpu/cpu.h"
#include "cpu/cpu.h"

namespace stance {
namespace {

using batchsim::Error;

[[noreturn]] void no_device(const std::string& device) {
  throw Error(Error::kInput, "device is '" + device + "'; the stance runs on cpu");
}

// the instruction set that the batch takes, by the worlds of a tile (BATCHSIM_ISA chooses)
int width() { return batchsim::cpu_tile_width(batchsim::Precision::f32); }

}  // namespace

#ifdef BATCHSIM_X86
#define STANCE_CHOOSE(make, ...)                  \
  switch (width()) {                              \
    case 16: return make##_avx512(__VA_ARGS__);   \
    case 8: return make##_avx2(__VA_ARGS__);      \
    default: return make##_baseline(__VA_ARGS__); \
  }
#else
#define STANCE_CHOOSE(make, ...) return make##_baseline(__VA_ARGS__);
#endif

template <>
std::unique_ptr<Env<float>> make_env(const Body& body, const EnvOptions& o) {
  if (o.device != "cpu") no_device(o.device);
  STANCE_CHOOSE(env_f32, body, o)
}
template <>
std::unique_ptr<Env<double>> make_env(const Body& body, const EnvOptions& o) {
  if (o.device != "cpu") no_device(o.device);
  STANCE_CHOOSE(env_f64, body, o)
}
template <>
std::unique_ptr<Learner<float>> make_learner(const Policy& p, const PpoSettings& s, const LearnerOptions& o,
                                             const std::string& device) {
  if (device != "cpu") no_device(device);
  STANCE_CHOOSE(learner_f32, p, s, o)
}
template <>
std::unique_ptr<Learner<double>> make_learner(const Policy& p, const PpoSettings& s, const LearnerOptions& o,
                                              const std::string& device) {
  if (device != "cpu") no_device(device);
  STANCE_CHOOSE(learner_f64, p, s, o)
}

}  // namespace stance
