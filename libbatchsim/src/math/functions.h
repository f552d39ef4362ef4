// Elementary functions over Real: one implementation for every backend, so that only rounding differs between them.
//
// Polynomials and constants: Sun's fdlibm (k_sin.c, k_cos.c, e_rem_pio2.c) in double, Cephes (sinf.c) in float.
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

}  // namespace BS_ISA
}  // namespace batchsim
