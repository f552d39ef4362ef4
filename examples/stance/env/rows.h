// Rows of worlds as a kernel over tiles sees them: the memory is (nworld, n) for everyone to read, lanes are gathered from it.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "kernels/status.h"
#include "math/functions.h"

namespace stance {
inline namespace BS_ISA {

// over a plain float or double, too, these are batchsim's: the same polynomials everywhere
using batchsim::abs, batchsim::any, batchsim::asin_positive, batchsim::clip, batchsim::exp, batchsim::log, batchsim::max,
    batchsim::min;
using batchsim::select, batchsim::set_lane, batchsim::sincos, batchsim::sqrt;

// a world's own row
template <class V>
BS_FN auto* row(const V& view, int world) {
  return view.data + world * view.stride;
}

// the worlds of a tile; lanes beyond the last world read it and never write
template <class B>
struct Tile {
  using Real = typename B::Real;
  using T = typename B::Scalar;
  int first, nworld;

  BS_FN int world(int lane) const { return first + lane < nworld ? first + lane : nworld - 1; }
  BS_FN typename B::Mask live() const {
    unsigned b = 0;
    for (int l = 0; l < B::width; l++) b |= (first + l < nworld ? 1u : 0u) << l;
    return B::from_bits(b);
  }
  // element i of rows with the given distance
  BS_FN Real get(const T* rows, ptrdiff_t stride, int i) const {
    Real x = rows[world(0) * stride + i];
    for (int l = 1; l < B::width; l++) batchsim::set_lane(x, l, rows[world(l) * stride + i]);
    return x;
  }
  BS_FN void set(T* rows, ptrdiff_t stride, int i, Real x, typename B::Mask lanes) const {
    for (int l : batchsim::lanes(lanes)) rows[world(l) * stride + i] = batchsim::lane(x, l);
  }
  template <class V>
  BS_FN Real get(const V& view, int i) const {
    return get(view.data, view.stride, i);
  }
  // a mask from a test of each world
  template <class F>
  BS_FN typename B::Mask where(F f) const {
    unsigned b = 0;
    for (int l = 0; l < B::width; l++) b |= (first + l < nworld && f(first + l) ? 1u : 0u) << l;
    return B::from_bits(b);
  }
};

}  // namespace BS_ISA
}  // namespace stance
