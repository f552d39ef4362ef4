// The formulas of the update, an element at a time; the same text on the CPU and in CUDA.
#pragma once

#include "env/random.h"
#include "math/functions.h"

namespace stance {
inline namespace BS_ISA {

// a permutation of 0 ... n - 1 that is computed, not stored: four Feistel rounds on the next power of four, walked until inside
BS_FN uint32_t shuffled(uint32_t i, uint32_t n, uint64_t seed, uint32_t iteration, uint32_t epoch) {
  int half = 1;
  while ((uint64_t(1) << (2 * half)) < n) half++;
  const uint32_t low = (uint32_t(1) << half) - 1;
  do {
    uint32_t a = i >> half, b = i & low;
    for (uint32_t round = 0; round < 4; round++) {
      const Stream stream{seed, iteration, epoch};
      const uint32_t mixed = a ^ (stream.words(Purpose::kShuffle, b << 3 | round).v[0] & low);
      a = b, b = mixed;
    }
    i = a << half | b;
  } while (i >= n);
  return i;
}

template <class T>
BS_FN T elu(T x) {
  return x > 0 ? x : batchsim::exp(x) - T(1);
}
// its derivative, from its value
template <class T>
BS_FN T elu_slope(T y) {
  return y > 0 ? T(1) : y + T(1);
}

// one step back of generalised advantage estimation: an episode that ended has no value after it; where it ran out of time, the reward
// holds gamma V of its last state already
template <class T>
BS_FN T advantage(T reward, T value, T next_value, T next_advantage, bool done, T gamma, T lambda) {
  const T go_on = done ? T(0) : T(1);
  return reward + gamma * next_value * go_on - value + gamma * lambda * go_on * next_advantage;
}

// sum over actions of log N(action; mean, exp(log_std)), without the constant
template <class T>
BS_FN T log_density(const T* action, const T* mean, const T* log_std, int n) {
  T s = 0;
  for (int k = 0; k < n; k++) {
    const T z = (action[k] - mean[k]) * batchsim::exp(-log_std[k]);
    s += T(-0.5) * z * z - log_std[k];
  }
  return s;
}

// the clipped objective of one sample: its loss and KL estimate, and the factor of d log_density in its gradient
template <class T>
struct Objective {
  T loss, kl, slope;
};
template <class T>
BS_FN Objective<T> objective(T log_density_new, T log_density_old, T adv, T clip) {
  const T log_ratio = log_density_new - log_density_old, ratio = batchsim::exp(log_ratio);
  const T cut = batchsim::max(batchsim::min(ratio, T(1) + clip), T(1) - clip);
  const bool uncut = ratio * adv <= cut * adv;
  return {uncut ? -ratio * adv : -cut * adv, (ratio - T(1)) - log_ratio, uncut ? -ratio * adv : T(0)};
}

// Adam (Kingma, Ba 2014); step counts from 1: c1 = 1 - beta1^step, c2 = 1 - beta2^step
template <class T>
BS_FN void adam(T& parameter, T& m, T& v, T gradient, T rate, T c1, T c2) {
  constexpr T beta1 = T(0.9), beta2 = T(0.999), epsilon = T(1e-5);
  m = beta1 * m + (T(1) - beta1) * gradient;
  v = beta2 * v + (T(1) - beta2) * gradient * gradient;
  parameter -= rate * (m / c1) / (batchsim::sqrt(v / c2) + epsilon);
}

}  // namespace BS_ISA
}  // namespace stance
