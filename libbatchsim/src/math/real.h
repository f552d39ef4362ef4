// The verbs of math/pack.h for a plain scalar: one world, one lane.
#pragma once

// short functions on one line under their template
// clang-format off

#include <cmath>

#include "math/isa.h"

namespace batchsim {
inline namespace BS_ISA {

BS_FN unsigned bits(bool m) { return m ? 1u : 0u; }
BS_FN bool any(bool m) { return m; }
BS_FN bool all(bool m) { return m; }

BS_FN float select(bool m, float a, float b) { return m ? a : b; }
BS_FN double select(bool m, double a, double b) { return m ? a : b; }
BS_FN float abs(float a) { return a < 0 ? -a : a; }
BS_FN double abs(double a) { return a < 0 ? -a : a; }
BS_FN float min(float a, float b) { return b < a ? b : a; }
BS_FN double min(double a, double b) { return b < a ? b : a; }
BS_FN float max(float a, float b) { return a < b ? b : a; }
BS_FN double max(double a, double b) { return a < b ? b : a; }
// max(a, b) for a b that is a number, in one instruction: a that is NaN stays so
template <class R>
BS_FN R at_least(R a, R b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<R, float>) {
    float r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
  }
#endif
  return max(a, b);
}
BS_FN float sqrt(float a) { return ::sqrtf(a); }
BS_FN double sqrt(double a) { return ::sqrt(a); }
// 1 / sqrt(a), within 2 units in the last place in float on a GPU
#if defined(__CUDA_ARCH__)
BS_FN float rsqrt(float a) { return ::rsqrtf(a); }
#else
BS_FN float rsqrt(float a) { return 1 / sqrt(a); }
#endif
BS_FN double rsqrt(double a) { return 1 / sqrt(a); }

// a b + c: one rounding where the machine has it (see math/pack.h)
#if defined(__CUDA_ARCH__) || defined(__FMA__) || defined(BS_FUSED)
BS_FN float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
BS_FN double fma(double a, double b, double c) { return ::fma(a, b, c); }
#else
BS_FN float fma(float a, float b, float c) { return a * b + c; }
BS_FN double fma(double a, double b, double c) { return a * b + c; }
#endif

BS_FN float lane(float x, int) { return x; }
BS_FN double lane(double x, int) { return x; }
BS_FN void set_lane(float& x, int, float y) { x = y; }
BS_FN void set_lane(double& x, int, double y) { x = y; }

// for (int l : lanes(mask)): the lanes that are set, lowest first; the scalar code that cannot be packed runs in such a loop
struct Lanes {
  unsigned b;
  struct Iterator {
    unsigned b;
    BS_FN int operator*() const {
      int l = 0;
      while (!(b >> l & 1)) l++;
      return l;
    }
    BS_FN void operator++() { b &= b - 1; }
    BS_FN bool operator!=(unsigned end) const { return b != end; }
  };
  BS_FN Iterator begin() const { return {b}; }
  BS_FN unsigned end() const { return 0; }
};
template <class M>
BS_FN Lanes lanes(M m) { return {bits(m)}; }

}  // namespace BS_ISA
}  // namespace batchsim
