// The calls that are counted, each in a section of its name.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <string>
#include <vector>

#include "batchsim/batch.h"
#include "world/engine.h"
#include "world/impl.h"

namespace batchsim::tools {

// What the interpreter counts from here to the end of the scope goes to `name`; nothing on a GPU.
class Section {
 public:
  explicit Section(const char* name) { mark(name); }
  Section(const Section&) = delete;
  ~Section() { mark(nullptr); }

 private:
  static void mark(const char* name) {
    static const auto section = reinterpret_cast<void (*)(const char*)>(dlsym(RTLD_DEFAULT, "ptxvm_section"));
    if (section) section(name);
  }
};

class Calls {
 public:
  explicit Calls(Batch& batch) : batch_(batch) {}

  void step() {
    run("step", [&] { batch_.step(1); });
    run("forward", [&] { batch_.forward(); });
    forwarded_ = true;
  }

  void factor() {
    if (!forwarded_) batch_.forward();  // fills M and qfrc_smooth
    const auto engine = [&](Op op) { batch_.impl().engine->run({.op = op}); };
    run("factor_m", [&] { engine(Op::kFactorM); });
    run("solve_m", [&] { engine(Op::kSolveM); });
    run("factor_solve_m", [&] { engine(Op::kFactorSolveM); });
  }

  // of the state's rows, a thread a world
  void rows() {
    const std::vector<double> force(3 * batch_.nworld(), 0);  // zeros in either precision
    void* device = nullptr;
    if (const cudaError_t e = cudaMalloc(&device, force.size() * sizeof(double)); e != cudaSuccess)
      throw Error(Error::kDevice, std::string("cudaMalloc: ") + cudaGetErrorString(e));
    cudaMemcpy(device, force.data(), force.size() * sizeof(double), cudaMemcpyHostToDevice);
    report_ = batch_.report(), reported_ = true;  // the reset clears it
    run("push", [&] { batch_.push(1, device, 1); });
    run("reset", [&] { batch_.reset(); });
    cudaFree(device);
  }

  // what the worlds' counters said before they were reset
  Report report() const { return reported_ ? report_ : batch_.report(); }

 private:
  template <class F>
  void run(const char* name, F call) {
    const Section section(name);
    call();
    batch_.synchronize();
  }

  Batch& batch_;
  bool forwarded_ = false, reported_ = false;
  Report report_;
};

}  // namespace batchsim::tools
