// Segments and panels: how M and its factor lie in memory.
//
// A segment is a run of up to four DoFs of one unbranched chain; its rows of M have the same ancestors. They form a panel, a quad a
// column: the entries of the four rows side by side. Columns are a place for a right-hand side, the segment's ancestors from the
// root, then the segment itself, padded to four:
//
//   column        0 | 1  2  ...  depth | depth+1 ... depth+4
//   row dof         | x  x         x   |  x
//   row dof + 1     | x  x         x   |  x  x
//   row dof + 2     | x  x         x   |  x  x  x
//   row dof + 3     | x  x         x   |  x  x  x  x       in M 0 in rows and columns from `size` on,
//                                                           and in column 0; a factor need not have anything there
//
// Entry (k, j) of M is M_rowadr[k] + 4 dof_depth[j]. The four rows share the loads of what is subtracted from them, and a GPU's thread
// loads a quad at once.
#pragma once

#include "model/segment.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

template <class R>
struct Quad {
  R v[kQuad];
};

template <class B>
BS_FN Quad<typename B::Real> load_quad(typename B::RealRow row, int c) {
  if constexpr (requires { B::load_quad(row, c); }) {
    return B::load_quad(row, c);
  } else {
    Quad<typename B::Real> q;
    for (int t = 0; t < kQuad; t++) q.v[t] = row[kQuad * c + t];
    return q;
  }
}
template <class B>
BS_FN void store_quad(typename B::RealRow row, int c, Quad<typename B::Real> q) {
  if constexpr (requires { B::store_quad(row, c, q); }) {
    B::store_quad(row, c, q);
  } else {
    for (int t = 0; t < kQuad; t++) row[kQuad * c + t] = q.v[t];
  }
}

template <class R>
BS_FN Quad<R> operator+(Quad<R> a, Quad<R> b) {
  return {{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2], a.v[3] + b.v[3]}};
}
template <class R>
BS_FN Quad<R> operator-(Quad<R> a, Quad<R> b) {
  return {{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2], a.v[3] - b.v[3]}};
}
// a + b' c
template <class R>
BS_FN R add_dot(R a, Quad<R> b, Quad<R> c) {
  return fma(b.v[3], c.v[3], fma(b.v[2], c.v[2], fma(b.v[1], c.v[1], fma(b.v[0], c.v[0], a))));
}

// fn(i) for the constants i = 0 ... N - 1. Sums in arrays stay in registers: where GCC unrolls a loop late, it stores them in each turn
template <int N, class F>
BS_ALWAYS_INLINE void each(const F& fn) {
  if constexpr (N > 0) {
    each<N - 1>(fn);
    fn(std::integral_constant<int, N - 1>());
  }
}

// fn(std::integral_constant) with the constant n, 1 ... N
template <int N, class F>
BS_FN void with_constant(int n, F fn) {
  if constexpr (N == 1) {
    fn(std::integral_constant<int, 1>());
  } else {
    if (n == N)
      fn(std::integral_constant<int, N>());
    else
      with_constant<N - 1>(n, fn);
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
