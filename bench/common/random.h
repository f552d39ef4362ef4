// Random numbers that are the same on every system: the standard fixes the generator, but not its distributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace batchsim::tools {

class Random {
 public:
  // streams of one seed are independent of each other
  Random(uint64_t seed, uint64_t stream) {
    std::seed_seq s{uint32_t(seed), uint32_t(seed >> 32), uint32_t(stream), uint32_t(stream >> 32)};
    gen_.seed(s);
  }
  double uniform(double lo, double hi) { return lo + (hi - lo) * (double(gen_() >> 11) * 0x1p-53); }
  double normal() {
    const double u = 1 - uniform(0, 1), v = uniform(0, 1);
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  std::mt19937_64 gen_;
};

}  // namespace batchsim::tools
