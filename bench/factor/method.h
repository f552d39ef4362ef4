// One way to factor M and to solve with it, for bench_factor: it holds the matrices of all worlds in a layout of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "factor/problem.h"

namespace batchsim::tools {

class Method {
 public:
  virtual ~Method() = default;
  virtual std::string name() const = 0;
  virtual std::string precision() const = 0;
  /// Factors and solves all worlds so many times. Seconds: of this thread on the CPU, by events on a GPU.
  virtual double run(int times) = 0;
  /// Of the last run: G, (nv, nv) in rows and zero before the call, with M = G' G.
  virtual void factor(int world, double* G) = 0;
  virtual void solution(int world, double* x) = 0;  // (nv)
  /// Bytes a world: M read and its factor written once, as the method stores them; b and x.
  virtual double bytes() const = 0;
  virtual double flops() const = 0;
  /// Where it works on a GPU, and in how many threads or launches; empty on the CPU.
  virtual std::string detail() const { return {}; }
};
using Methods = std::vector<std::unique_ptr<Method>>;

/// Seconds that this thread has run: other load on the machine does not count.
double thread_seconds();

/// The first is the tree, which the others are compared with. note: a line for each method that is left out
Methods cpu_methods(const Problem& p, bool f64, std::string& note);
/// Error kDevice without CUDA in this build.
Methods cuda_methods(const Problem& p, bool f64, std::string& note);
std::string cuda_device_name();

}  // namespace batchsim::tools
