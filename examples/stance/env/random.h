// Random numbers by counter: draw `index` of `purpose` of a world at a control step is a function of the seed alone, on every device.
//
// source Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011), Philox 4x32 with 10 rounds
#pragma once

#include <cstdint>

#include "math/functions.h"

namespace stance {
inline namespace BS_ISA {

struct Words {
  uint32_t v[4];
};

BS_FN Words philox(Words counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; round++) {
    const uint64_t a = uint64_t(0xD2511F53u) * counter.v[0], b = uint64_t(0xCD9E8D57u) * counter.v[2];
    counter = {{uint32_t(b >> 32) ^ counter.v[1] ^ key0, uint32_t(b), uint32_t(a >> 32) ^ counter.v[3] ^ key1, uint32_t(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

enum class Purpose : uint32_t { kStart, kPose, kVelocity, kShove, kPause, kAction, kShuffle, kWeights };

struct Stream {
  uint64_t seed;
  uint32_t step, world;

  BS_FN Words words(Purpose purpose, uint32_t index) const {
    return philox({{step, world, uint32_t(purpose), index}}, uint32_t(seed), uint32_t(seed >> 32));
  }
};

// in [0, 1), 24 bits: the same numbers in float and in double
template <class T>
BS_FN T uniform(uint32_t word) {
  return T(word >> 8) * T(1.0 / 16777216);
}
// one of lo ... hi - 1
BS_FN int uniform_int(uint32_t word, int lo, int hi) { return lo + static_cast<int>((uint64_t(word) * uint32_t(hi - lo)) >> 32); }

// four standard normal deviates (Box and Muller)
template <class T>
struct Normals {
  T v[4];
};
template <class T>
BS_FN Normals<T> normals(Words w) {
  Normals<T> n;
  for (int k = 0; k < 4; k += 2) {
    const T u = uniform<T>(w.v[k]) + T(0.5 / 16777216);
    const T radius = batchsim::sqrt(T(-2) * batchsim::log(u));
    const batchsim::SinCos<T> angle = batchsim::sincos(uniform<T>(w.v[k + 1]) * T(6.28318530717958647693));
    n.v[k] = radius * angle.cos;
    n.v[k + 1] = radius * angle.sin;
  }
  return n;
}

}  // namespace BS_ISA
}  // namespace stance
