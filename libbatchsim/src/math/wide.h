// wide<Real>: double, for the few sums that float is too short for. On double backends it is Real itself.
//
// In memory a wide number is two rows of Real, the value and what rounding left out of it; double backends leave the second alone.
#pragma once

// short functions on one line under their template
// clang-format off

#include "math/spatial.h"

namespace batchsim {
inline namespace BS_ISA {

template <class R>
struct wide_of {
  using type = double;
};
BS_FN double widen(float x) { return x; }
BS_FN double widen(double x) { return x; }
template <class R>
BS_FN R narrow(double x) { return static_cast<R>(x); }
#ifndef __CUDACC__
template <class T, int W>
struct wide_of<pack<T, W>> {
  using type = pack<double, W>;
};
template <class T, int W>
inline pack<double, W> widen(pack<T, W> x) { return __builtin_convertvector(x.v, typename pack<double, W>::vector); }
template <class R, int W>
inline R narrow(pack<double, W> x) { return R(__builtin_convertvector(x.v, typename R::vector)); }
#endif
template <class R>
using wide = typename wide_of<R>::type;
template <class R>
inline constexpr bool is_wide = sizeof(wide<R>) == sizeof(R);

template <class R>
BS_FN Vec3<wide<R>> widen(Vec3<R> v) { return {widen(v.x), widen(v.y), widen(v.z)}; }
template <class R>
BS_FN Quat<wide<R>> widen(Quat<R> q) { return {widen(q.w), widen(q.x), widen(q.y), widen(q.z)}; }
template <class R>
BS_FN Spatial<wide<R>> widen(Spatial<R> v) { return {widen(v.rot), widen(v.lin)}; }
template <class R>
BS_FN Inertia<wide<R>> widen(Inertia<R> I) {
  return {widen(I.xx), widen(I.yy), widen(I.zz), widen(I.xy), widen(I.xz), widen(I.yz), widen(I.mc), widen(I.mass)};
}
template <class R, class D>
BS_FN Vec3<R> narrow(Vec3<D> v) { return {narrow<R>(v.x), narrow<R>(v.y), narrow<R>(v.z)}; }
template <class R, class D>
BS_FN Quat<R> narrow(Quat<D> q) { return {narrow<R>(q.w), narrow<R>(q.x), narrow<R>(q.y), narrow<R>(q.z)}; }
template <class R, class D>
BS_FN Spatial<R> narrow(Spatial<D> v) { return {narrow<R>(v.rot), narrow<R>(v.lin)}; }

// one number, a vector, a quaternion, a spatial vector from the rows hi and lo; store_wide puts them back
template <class R, class Row>
BS_FN wide<R> load_wide(const Row& hi, const Row& lo, int i) {
  if constexpr (is_wide<R>)
    return R(hi[i]);
  else
    return widen(R(hi[i])) + widen(R(lo[i]));
}
template <class R, class Row>
BS_FN Vec3<wide<R>> load3_wide(const Row& hi, const Row& lo, int i) {
  return {load_wide<R>(hi, lo, i), load_wide<R>(hi, lo, i + 1), load_wide<R>(hi, lo, i + 2)};
}
template <class R, class Row>
BS_FN Quat<wide<R>> load4_wide(const Row& hi, const Row& lo, int i) {
  return {load_wide<R>(hi, lo, i), load_wide<R>(hi, lo, i + 1), load_wide<R>(hi, lo, i + 2), load_wide<R>(hi, lo, i + 3)};
}
template <class R, class Row>
BS_FN Spatial<wide<R>> load6_wide(const Row& hi, const Row& lo, int i) { return {load3_wide<R>(hi, lo, i), load3_wide<R>(hi, lo, i + 3)}; }

// of hi - a, all of it rounded once at its own size
template <class R, class Row>
BS_FN Vec3<R> offset_from(Vec3<R> a, const Row& hi, const Row& lo, int i) {
  const Vec3<R> r = load3<R>(hi, i) - a;
  if constexpr (is_wide<R>)
    return r;
  else
    return r + load3<R>(lo, i);
}

template <class R, class Row, class W>
BS_FN void store_wide(const Row& hi, const Row& lo, int i, W x) {
  const R h = narrow<R>(x);
  hi[i] = h;
  if constexpr (!is_wide<R>) lo[i] = narrow<R>(x - widen(h));
}
template <class R, class Row, class W>
BS_FN void store_wide(const Row& hi, const Row& lo, int i, Vec3<W> v) {
  store_wide<R>(hi, lo, i, v.x), store_wide<R>(hi, lo, i + 1, v.y), store_wide<R>(hi, lo, i + 2, v.z);
}
template <class R, class Row, class W>
BS_FN void store_wide(const Row& hi, const Row& lo, int i, Quat<W> q) {
  store_wide<R>(hi, lo, i, q.w), store_wide<R>(hi, lo, i + 1, q.x), store_wide<R>(hi, lo, i + 2, q.y), store_wide<R>(hi, lo, i + 3, q.z);
}
template <class R, class Row, class W>
BS_FN void store_wide(const Row& hi, const Row& lo, int i, Spatial<W> v) { store_wide<R>(hi, lo, i, v.rot), store_wide<R>(hi, lo, i + 3, v.lin); }

}  // namespace BS_ISA
}  // namespace batchsim
