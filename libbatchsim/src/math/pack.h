// pack<T, W>: W worlds side by side, one SIMD lane a world.
//
// Ordinary operators over compiler vector types. A comparison gives a mask that does not convert to bool, so `if (dist < margin)`
// does not compile: use select, any or lanes. The same verbs exist for plain scalars (math/real.h), so that a kernel is one text.
#pragma once

// short functions on one line under their template
// clang-format off

#include <cstdint>

#include "math/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace batchsim {
inline namespace BS_ISA {

// a dependent vector_size is taken for its element by g++ 12, hence the table
template <class T, int W>
struct vector_of;
#define BS_VECTOR(T, I, W)                                           \
  template <>                                                        \
  struct vector_of<T, W> {                                           \
    typedef T type __attribute__((vector_size(sizeof(T) * W)));      \
    typedef I mask __attribute__((vector_size(sizeof(I) * W)));      \
  };
BS_VECTOR(float, int32_t, 2)
BS_VECTOR(float, int32_t, 4)
BS_VECTOR(float, int32_t, 8)
BS_VECTOR(float, int32_t, 16)
BS_VECTOR(double, int64_t, 2)
BS_VECTOR(double, int64_t, 4)
BS_VECTOR(double, int64_t, 8)
BS_VECTOR(double, int64_t, 16)
#undef BS_VECTOR

template <class T, int W>
struct mask {
  typename vector_of<T, W>::mask v;

  mask() = default;
  mask(typename vector_of<T, W>::mask a) : v(a) {}
  explicit mask(bool b) {
    for (int l = 0; l < W; l++) v[l] = b ? -1 : 0;
  }
  static mask from_bits(unsigned bits) {
    mask m;
    for (int l = 0; l < W; l++) m.v[l] = (bits >> l & 1) ? -1 : 0;
    return m;
  }

  friend mask operator&(mask a, mask b) { return a.v & b.v; }
  friend mask operator|(mask a, mask b) { return a.v | b.v; }
  friend mask operator^(mask a, mask b) { return a.v ^ b.v; }
  friend mask operator!(mask a) { return ~a.v; }
  mask& operator&=(mask b) { return v &= b.v, *this; }
  mask& operator|=(mask b) { return v |= b.v, *this; }
};

template <class T, int W>
struct pack {
  using vector = typename vector_of<T, W>::type;
  using mask_type = mask<T, W>;
  vector v;

  pack() = default;
  pack(T a) : v(vector{} + a) {}
  template <class U>
    requires(std::is_arithmetic_v<U> && !std::is_same_v<U, T>)
  pack(U a) : pack(static_cast<T>(a)) {}
  pack(vector a) : v(a) {}

  T operator[](int lane) const { return v[lane]; }
  void set(int lane, T x) { v[lane] = x; }

  friend pack operator-(pack a) { return -a.v; }
  friend pack operator+(pack a, pack b) { return a.v + b.v; }
  friend pack operator-(pack a, pack b) { return a.v - b.v; }
  friend pack operator*(pack a, pack b) { return a.v * b.v; }
  friend pack operator/(pack a, pack b) { return a.v / b.v; }
  pack& operator+=(pack b) { return v += b.v, *this; }
  pack& operator-=(pack b) { return v -= b.v, *this; }
  pack& operator*=(pack b) { return v *= b.v, *this; }
  pack& operator/=(pack b) { return v /= b.v, *this; }

  friend mask_type operator<(pack a, pack b) { return a.v < b.v; }
  friend mask_type operator<=(pack a, pack b) { return a.v <= b.v; }
  friend mask_type operator>(pack a, pack b) { return a.v > b.v; }
  friend mask_type operator>=(pack a, pack b) { return a.v >= b.v; }
  friend mask_type operator==(pack a, pack b) { return a.v == b.v; }
  friend mask_type operator!=(pack a, pack b) { return a.v != b.v; }
};

// bit l is set where lane l is; vectors wider than the registers go by halves, a loop over lanes is many times slower
template <class T, int W>
inline unsigned bits(mask<T, W> m) {
#if defined(__AVX512DQ__)
  if constexpr (sizeof(m.v) == 64 && sizeof(T) == 4) return _mm512_movepi32_mask((__m512i)m.v);
  if constexpr (sizeof(m.v) == 64 && sizeof(T) == 8) return _mm512_movepi64_mask((__m512i)m.v);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(m.v) == 32 && sizeof(T) == 4) return _mm256_movemask_ps((__m256)m.v);
  if constexpr (sizeof(m.v) == 32 && sizeof(T) == 8) return _mm256_movemask_pd((__m256d)m.v);
#endif
#if defined(__x86_64__)
  if constexpr (sizeof(m.v) == 16 && sizeof(T) == 4) return _mm_movemask_ps((__m128)m.v);
  if constexpr (sizeof(m.v) == 16 && sizeof(T) == 8) return _mm_movemask_pd((__m128d)m.v);
  if constexpr (sizeof(m.v) > 16) {
    mask<T, W / 2> half[2];
    __builtin_memcpy(half, &m, sizeof m);
    return bits(half[0]) | bits(half[1]) << (W / 2);
  }
#endif
  unsigned b = 0;
  for (int l = 0; l < W; l++) b |= (m.v[l] ? 1u : 0u) << l;
  return b;
}
template <class T, int W>
inline bool any(mask<T, W> m) { return bits(m) != 0; }
template <class T, int W>
inline bool all(mask<T, W> m) { return bits(m) == (W == 32 ? ~0u : (1u << W) - 1); }

template <class T, int W>
inline pack<T, W> select(mask<T, W> m, pack<T, W> a, pack<T, W> b) { return m.v ? a.v : b.v; }
template <class T, int W>
inline pack<T, W> select(mask<T, W> m, T a, pack<T, W> b) { return select(m, pack<T, W>(a), b); }
template <class T, int W>
inline pack<T, W> select(mask<T, W> m, pack<T, W> a, T b) { return select(m, a, pack<T, W>(b)); }

template <class T, int W>
inline pack<T, W> abs(pack<T, W> a) { return a.v < typename pack<T, W>::vector{} ? -a.v : a.v; }
template <class T, int W>
inline pack<T, W> min(pack<T, W> a, pack<T, W> b) { return b.v < a.v ? b.v : a.v; }
template <class T, int W>
inline pack<T, W> max(pack<T, W> a, pack<T, W> b) { return a.v < b.v ? b.v : a.v; }

template <class T, int W>
inline pack<T, W> sqrt(pack<T, W> a) {
#if defined(__AVX512F__)
  if constexpr (sizeof(a.v) == 64 && sizeof(T) == 4) return (typename pack<T, W>::vector)_mm512_mask_sqrt_ps((__m512)a.v, 0xffff, (__m512)a.v);
  if constexpr (sizeof(a.v) == 64 && sizeof(T) == 8) return (typename pack<T, W>::vector)_mm512_mask_sqrt_pd((__m512d)a.v, 0xff, (__m512d)a.v);
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(a.v) == 32 && sizeof(T) == 4) return (typename pack<T, W>::vector)_mm256_sqrt_ps((__m256)a.v);
  if constexpr (sizeof(a.v) == 32 && sizeof(T) == 8) return (typename pack<T, W>::vector)_mm256_sqrt_pd((__m256d)a.v);
#endif
#if defined(__x86_64__)
  if constexpr (sizeof(a.v) == 16 && sizeof(T) == 4) return (typename pack<T, W>::vector)_mm_sqrt_ps((__m128)a.v);
  if constexpr (sizeof(a.v) == 16 && sizeof(T) == 8) return (typename pack<T, W>::vector)_mm_sqrt_pd((__m128d)a.v);
  if constexpr (sizeof(a.v) > 16) {
    pack<T, W / 2> half[2];
    __builtin_memcpy(half, &a, sizeof a);
    half[0] = sqrt(half[0]), half[1] = sqrt(half[1]);
    __builtin_memcpy(&a, half, sizeof a);
    return a;
  }
#endif
  pack<T, W> r;
  for (int l = 0; l < W; l++) r.v[l] = __builtin_sqrt(a.v[l]);
  return r;
}

// a b + c: one rounding where the instruction set has it, two elsewhere (results are kept per instruction set)
template <class T, int W>
inline pack<T, W> fma(pack<T, W> a, pack<T, W> b, pack<T, W> c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(a.v) == 64 && sizeof(T) == 4) return (typename pack<T, W>::vector)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v);
  if constexpr (sizeof(a.v) == 64 && sizeof(T) == 8) return (typename pack<T, W>::vector)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v);
#endif
#if defined(__FMA__)
  if constexpr (sizeof(a.v) == 32 && sizeof(T) == 4) return (typename pack<T, W>::vector)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v);
  if constexpr (sizeof(a.v) == 32 && sizeof(T) == 8) return (typename pack<T, W>::vector)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v);
#endif
#if defined(__FMA__)
  if constexpr (sizeof(a.v) == 64) {
    pack<T, W / 2> x[2], y[2], z[2];
    __builtin_memcpy(x, &a, sizeof a), __builtin_memcpy(y, &b, sizeof b), __builtin_memcpy(z, &c, sizeof c);
    x[0] = fma(x[0], y[0], z[0]), x[1] = fma(x[1], y[1], z[1]);
    __builtin_memcpy(&a, x, sizeof a);
    return a;
  }
#endif
  return a.v * b.v + c.v;
}

template <class T, int W>
inline T lane(pack<T, W> x, int l) { return x.v[l]; }
template <class T, int W, class U>
inline void set_lane(pack<T, W>& x, int l, U y) { x.v[l] = y; }

}  // namespace BS_ISA
}  // namespace batchsim
