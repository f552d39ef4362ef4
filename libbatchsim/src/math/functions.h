// Elementary functions over Real: one implementation for every backend, so that only rounding differs between them.
//
// Polynomials and constants: Sun's fdlibm (k_sin.c, k_cos.c, e_rem_pio2.c, e_exp.c, e_log.c, e_asin.c) in double, Cephes (sinf.c, expf.c,
// logf.c, asinf.c) in float.
#pragma once

#include "math/real.h"
#ifndef __CUDACC__
#include "math/pack.h"
#endif

namespace batchsim {
inline namespace BS_ISA {

template <class R>
struct scalar_of {
  using type = R;
};
#ifndef __CUDACC__
template <class T, int W>
struct scalar_of<pack<T, W>> {
  using type = T;
};
#endif

// nearest integer, by the rounding of an addition; for |x| < 2^22 (float), 2^51 (double)
template <class R>
BS_FN R round_small(R x) {
  using T = typename scalar_of<R>::type;
  const T magic = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);  // 1.5 times 2^23, 2^52
  const R shifted = x + R(magic);
  return shifted - R(magic);
}

template <class R>
struct SinCos {
  R sin, cos;
};

// sine and cosine, to about one unit in the last place for |x| < 1e4 (float), 1e5 (double); bounded beyond
template <class R>
BS_FN SinCos<R> sincos(R x) {
  using T = typename scalar_of<R>::type;
  const R k = round_small(x * R(T(0.63661977236758134308)));
  R r, s, c;
  if constexpr (sizeof(T) == 4) {
    r = fma(k, R(T(-1.5703125)), x);
    r = fma(k, R(T(-4.837512969970703125e-4)), r);
    r = fma(k, R(T(-7.54978995489188216e-8)), r);
    r = max(min(r, R(1)), R(-1));
    const R z = r * r;
    const R p = fma(fma(R(T(-1.9515295891e-4)), z, R(T(8.3321608736e-3))), z, R(T(-1.6666654611e-1)));
    s = fma(p * z, r, r);
    const R q = fma(fma(R(T(2.443315711809948e-5)), z, R(T(-1.388731625493765e-3))), z, R(T(4.166664568298827e-2)));
    c = fma(q * z, z, fma(R(T(-0.5)), z, R(1)));
  } else {
    r = x - k * R(T(1.57079632673412561417e+00));
    const R w = k * R(T(6.07710050630396597660e-11));
    const R hi = r - w;
    r = hi - (k * R(T(2.02226624879595063154e-21)) - ((r - hi) - w));
    r = max(min(r, R(1)), R(-1));
    const R z = r * r;
    R p = R(T(1.58969099521155010221e-10));
    p = p * z + R(T(-2.50507602534068634195e-08));
    p = p * z + R(T(2.75573137070700676789e-06));
    p = p * z + R(T(-1.98412698298579493134e-04));
    p = p * z + R(T(8.33333333332248946124e-03));
    p = p * z + R(T(-1.66666666666666324348e-01));
    s = r + r * z * p;
    R q = R(T(-1.13596475577881948265e-11));
    q = q * z + R(T(2.08757232129817482790e-09));
    q = q * z + R(T(-2.75573143513906633035e-07));
    q = q * z + R(T(2.48015872894767294178e-05));
    q = q * z + R(T(-1.38888888888741095749e-03));
    q = q * z + R(T(4.16666666666666019037e-02));
    const R half = R(T(0.5)) * z, w1 = R(1) - half;  // 1 - z/2 with what rounding left out
    c = w1 + (((R(1) - w1) - half) + z * z * q);
  }
  const R q = k - R(4) * round_small(k * R(T(0.25)));  // quadrant: -2 ... 2
  const auto odd = abs(q) == R(1);
  const auto flip_sin = (q == R(-1)) | (abs(q) == R(2));
  const auto flip_cos = (q == R(1)) | (abs(q) == R(2));
  const R a = select(odd, c, s), b = select(odd, s, c);
  return {select(flip_sin, -a, a), select(flip_cos, -b, b)};
}

// the bits of a number as an integer of the same width, and back, lane by lane
BS_FN int as_bits(float x) { return __builtin_bit_cast(int, x); }
BS_FN long long as_bits(double x) { return __builtin_bit_cast(long long, x); }
BS_FN float from_bits(int i) { return __builtin_bit_cast(float, i); }
BS_FN double from_bits(long long i) { return __builtin_bit_cast(double, i); }
#ifndef __CUDACC__
template <class T, int W>
inline typename vector_of<T, W>::mask as_bits(pack<T, W> x) {
  return (typename vector_of<T, W>::mask)(x.v);
}
inline pack<float, 4> from_bits(vector_of<float, 4>::mask i) { return (vector_of<float, 4>::type)(i); }
inline pack<float, 8> from_bits(vector_of<float, 8>::mask i) { return (vector_of<float, 8>::type)(i); }
inline pack<float, 16> from_bits(vector_of<float, 16>::mask i) { return (vector_of<float, 16>::type)(i); }
#endif

// what the bits of a binary floating point number are, and the number to whose last bits an integer can be added
template <class T>
struct Format;
template <>
struct Format<float> {
  using Int = int;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr float magic = 12582912.0f;  // 1.5 times 2^23
};
template <>
struct Format<double> {
  using Int = long long;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr double magic = 6755399441055744.0;  // 1.5 times 2^52
};

// e^x to about one unit in the last place; x is cut to what is neither zero nor infinite: +-87 (float), +-708 (double)
template <class R>
BS_FN R exp(R x) {
  using T = typename scalar_of<R>::type;
  using F = Format<T>;
  constexpr T most = sizeof(T) == 4 ? T(87) : T(708);
  x = max(min(x, R(most)), R(-most));
  const R n = round_small(x * R(T(1.44269504088896340736)));
  R r, e;
  if constexpr (sizeof(T) == 4) {
    r = fma(n, R(T(-0.693359375)), x);
    r = fma(n, R(T(2.12194440e-4)), r);
    R p = fma(R(T(1.9875691500e-4)), r, R(T(1.3981999507e-3)));
    p = fma(p, r, R(T(8.3334519073e-3)));
    p = fma(p, r, R(T(4.1665795894e-2)));
    p = fma(p, r, R(T(1.6666665459e-1)));
    p = fma(p, r, R(T(5.0000001201e-1)));
    e = fma(p, r * r, r) + R(1);
  } else {
    const R hi = x - n * R(T(6.93147180369123816490e-01)), lo = n * R(T(1.90821492927058770002e-10));
    r = hi - lo;
    const R z = r * r;
    R p = R(T(4.13813679705723846039e-08));
    p = p * z + R(T(-1.65339022054652515390e-06));
    p = p * z + R(T(6.61375632143793436117e-05));
    p = p * z + R(T(-2.77777777770155933842e-03));
    p = p * z + R(T(1.66666666666666019037e-01));
    const R c = r - z * p;
    e = R(1) - ((lo - (r * c) / (R(2) - c)) - hi);
  }
  // 2^n: n is in the last bits of n + magic; the shift drops all others
  const auto two_n = from_bits((as_bits(n + R(F::magic)) + F::bias) << F::mantissa);
  return e * two_n;
}

// natural logarithm of a positive normal number, to about one unit in the last place
template <class R>
BS_FN R log(R x) {
  using T = typename scalar_of<R>::type;
  using F = Format<T>;
  using I = typename F::Int;
  const auto i = as_bits(x);
  // x = 2^k m, m in [sqrt(1/2), sqrt(2))
  R m = from_bits((i & ((I(1) << F::mantissa) - 1)) | (I(F::bias) << F::mantissa));
  R k = from_bits((i >> F::mantissa) - F::bias + as_bits(T(F::magic))) - R(F::magic);
  const auto large = m >= R(T(1.41421356237309504880));
  m = select(large, m * R(T(0.5)), m);
  k = select(large, k + R(1), k);
  const R f = m - R(1);
  if constexpr (sizeof(T) == 4) {
    const R z = f * f;
    R p = fma(R(T(7.0376836292e-2)), f, R(T(-1.1514610310e-1)));
    p = fma(p, f, R(T(1.1676998740e-1)));
    p = fma(p, f, R(T(-1.2420140846e-1)));
    p = fma(p, f, R(T(1.4249322787e-1)));
    p = fma(p, f, R(T(-1.6668057665e-1)));
    p = fma(p, f, R(T(2.0000714765e-1)));
    p = fma(p, f, R(T(-2.4999993993e-1)));
    p = fma(p, f, R(T(3.3333331174e-1)));
    R y = p * f * z;
    y = fma(k, R(T(-2.12194440e-4)), y);
    y = fma(R(T(-0.5)), z, y);
    return fma(k, R(T(0.693359375)), f + y);
  } else {
    const R s = f / (R(2) + f), z = s * s;
    R p = R(T(1.479819860511658591e-01));
    p = p * z + R(T(1.531383769920937332e-01));
    p = p * z + R(T(1.818357216161805012e-01));
    p = p * z + R(T(2.222219843214978396e-01));
    p = p * z + R(T(2.857142874366239149e-01));
    p = p * z + R(T(3.999999999940941908e-01));
    p = p * z + R(T(6.666666666666735130e-01));
    const R half = R(T(0.5)) * f * f;
    return k * R(T(6.93147180369123816490e-01)) - ((half - (s * (half + z * p) + k * R(T(1.90821492927058770002e-10)))) - f);
  }
}

// arc sine for 0 <= x <= 1, to a few units in the last place
template <class R>
BS_FN R asin_positive(R x) {
  using T = typename scalar_of<R>::type;
  const auto far = x > R(T(0.5));
  const R z = select(far, R(T(0.5)) * (R(1) - min(x, R(1))), x * x);
  const R s = select(far, sqrt(z), x);
  R r;
  if constexpr (sizeof(T) == 4) {
    R p = fma(R(T(4.2163199048e-2)), z, R(T(2.4181311049e-2)));
    p = fma(p, z, R(T(4.5470025998e-2)));
    p = fma(p, z, R(T(7.4953002686e-2)));
    p = fma(p, z, R(T(1.6666752422e-1)));
    r = fma(p * z, s, s);
  } else {
    R p = R(T(3.47933107596021167570e-05));
    p = p * z + R(T(7.91534994289814532176e-04));
    p = p * z + R(T(-4.00555345006794114027e-02));
    p = p * z + R(T(2.01212532134862925881e-01));
    p = p * z + R(T(-3.25565818622400915405e-01));
    p = p * z + R(T(1.66666666666666657415e-01));
    R q = R(T(7.70381505559019352791e-02));
    q = q * z + R(T(-6.88283971605453293030e-01));
    q = q * z + R(T(2.02094576023350569471e+00));
    q = q * z + R(T(-2.40339491173441421878e+00));
    q = q * z + R(1);
    r = s + s * (p * z / q);
  }
  return select(far, R(T(1.57079632679489661923)) - R(2) * r, r);
}

}  // namespace BS_ISA
}  // namespace batchsim
