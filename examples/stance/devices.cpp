// Which implementation of environment, learner and queue serves a device.
#include "backend/cpu/cpu.h"
#include "cpu/cpu.h"
#include "queue.h"
#ifdef BATCHSIM_CUDA
#include "cuda/cuda.h"
#endif

#include <chrono>

namespace stance {
namespace {

using batchsim::Error;

// cpu, or cuda where it was built
bool is_cuda(const std::string& device) {
  if (device == "cpu") return false;
  const bool cuda = device == "cuda" || (device.rfind("cuda:", 0) == 0 && device.size() > 5 && device.size() < 9 &&
                                         device.find_first_not_of("0123456789", 5) == std::string::npos);
  if (!cuda) throw Error(Error::kInput, "device is '" + device + "'; allowed are cpu, cuda and cuda:N");
#ifndef BATCHSIM_CUDA
  throw Error(Error::kDevice,
              "device is '" + device + "', and this program was built without CUDA; use cpu, or build with BATCHSIM_CUDA=ON");
#endif
  return true;
}

// on the CPU everything is done when its call returns
class CpuQueue : public Queue {
  class Calls : public Graph {
    void run(const std::function<void()>& work) override { work(); }
  };

 public:
  void* stream() const override { return nullptr; }
  std::unique_ptr<Graph> make_graph(bool) override { return std::make_unique<Calls>(); }
  void mark(int which) override { at_[which] = Clock::now(); }
  double seconds(int from, int to) override { return std::chrono::duration<double>(at_[to] - at_[from]).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_[kMarks];
};

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
#ifdef BATCHSIM_CUDA
#define STANCE_CUDA(device, call) \
  if (is_cuda(device)) return call;
#else
#define STANCE_CUDA(device, call) is_cuda(device);
#endif

std::unique_ptr<Queue> make_queue(const std::string& device) {
  STANCE_CUDA(device, make_cuda_queue(device))
  return std::make_unique<CpuQueue>();
}

template <>
std::unique_ptr<Env<float>> make_env(const Body& body, const EnvOptions& o) {
  STANCE_CUDA(o.device, make_cuda_env<float>(body, o))
  STANCE_CHOOSE(env_f32, body, o)
}
template <>
std::unique_ptr<Env<double>> make_env(const Body& body, const EnvOptions& o) {
  STANCE_CUDA(o.device, make_cuda_env<double>(body, o))
  STANCE_CHOOSE(env_f64, body, o)
}
template <>
std::unique_ptr<Learner<float>> make_learner(const Policy& p, const PpoSettings& s, const LearnerOptions& o,
                                             const std::string& device) {
  STANCE_CUDA(device, make_cuda_learner<float>(p, s, o))
  STANCE_CHOOSE(learner_f32, p, s, o)
}
template <>
std::unique_ptr<Learner<double>> make_learner(const Policy& p, const PpoSettings& s, const LearnerOptions& o,
                                              const std::string& device) {
  STANCE_CUDA(device, make_cuda_learner<double>(p, s, o))
  STANCE_CHOOSE(learner_f64, p, s, o)
}

}  // namespace stance
