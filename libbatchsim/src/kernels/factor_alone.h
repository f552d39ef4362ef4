// Factor and solve on a tree of segments, for a member that works alone: a segment at a time, up to 12 entries in registers.
//
// Rows of U = D L are kept below, 1 / D on the diagonal:  A = L' D L,
//
//   U(i, j) = A(i, j) - sum over descendants k of i, highest first:  U(k, i) U(k, j) / D(k)
//
// The order of a sum does not depend on how a chain is cut into segments: a world's bits are the same in every tile, whose elimination
// trees may differ. `Tree` is a ModelTree (factor_m.h) or the solver's elimination tree (solver_hessian.h).
#pragma once

#include "kernels/panel.h"

namespace batchsim {
inline namespace BS_ISA {

// MuJoCo's mjMINVAL; in float also what rounding leaves of an entry of the diagonal that cancels, as in a chain of a hundred hinges
// without armature
template <class B>
BS_FN typename B::Real least_pivot(typename B::Real diagonal) {
  using Real = typename B::Real;
  if constexpr (sizeof(typename B::Scalar) == 4)
    return max(Real(1e-15), Real(1e-7) * diagonal);
  else
    return 1e-15;
}

// the same for D new / D old, when the old one is 1 / inv
template <class B>
BS_FN typename B::Real least_growth(typename B::Real inv) {
  using Real = typename B::Real;
  if constexpr (sizeof(typename B::Scalar) == 4)
    return max(Real(1e-15) * inv, Real(1e-7));
  else
    return Real(1e-15) * inv;
}

// the diagonal block of segment s. w: -U(k, i) / D(k) for the rows k of its descendants, then its own, four a row. Returns the lanes
// with a pivot that is too small
template <int R, class B, class Tree>
BS_FN typename B::Mask factor_diagonal(const Tree& tree, int s, typename B::RealRow A, typename B::RealRow U, typename B::RealRow w,
                                       typename B::Mask lanes) {
  using Real = typename B::Real;
  const int n = tree.depth(s) * Tree::stride;
  Real acc[R][R];
  each<R>([&](auto t) { each<t + 1>([&](auto p) { acc[t][p] = A[tree.row(s, t) + n + p * Tree::stride]; }); });
  int at = 0;
  for (int e = tree.below(s) - 1; e >= 0; e--) {
    const int k = tree.descendant(s, e);
    for (int q = tree.size(k) - 1; q >= 0; q--) {
      const auto row = U + tree.row(k, q);
      const Real minus = -Real(row[(tree.depth(k) + q) * Tree::stride]);
      Real u[R];
      each<R>([&](auto t) { u[t] = row[n + t * Tree::stride]; });
      each<R>([&](auto t) {
        const Real c = u[t] * minus;
        w[at + t] = c;
        each<t + 1>([&](auto p) { acc[t][p] = fma(c, u[p], acc[t][p]); });
      });
      at += kQuad;
    }
  }
  typename B::Mask small = B::from_bits(0);
  each<R>([&](auto i) {
    constexpr int t = R - 1 - i;
    const auto row = U + (tree.row(s, t) + n);
    const Real least = least_pivot<B>(A[tree.row(s, t) + n + t * Tree::stride]);
    small = small | (acc[t][t] < least);
    const Real inv = Real(1) / max(acc[t][t], least);
    row[t * Tree::stride] = select(lanes, inv, Real(row[t * Tree::stride]));
    each<t>([&](auto p) {
      const Real c = -(acc[t][p] * inv);
      w[at + p] = c;
      each<p + 1>([&](auto j) { acc[p][j] = fma(c, acc[t][j], acc[p][j]); });
      row[p * Tree::stride] = select(lanes, acc[t][p], Real(row[p * Tree::stride]));
    });
    at += kQuad;
  });
  return small;
}

// columns j ... j + C - 1 of the rows of segment s
template <int R, int C, class B, class Tree>
BS_FN void factor_columns(const Tree& tree, int s, typename B::RealRow A, typename B::RealRow U, typename B::RealRow w,
                          typename B::Mask lanes, int j) {
  using Real = typename B::Real;
  Real acc[R][C];
  each<R>([&](auto t) { each<C>([&](auto c) { acc[t][c] = A[tree.row(s, t) + (j + c) * Tree::stride]; }); });
  int at = 0;
  for (int e = tree.below(s) - 1; e >= 0; e--) {
    const int k = tree.descendant(s, e);
    for (int q = tree.size(k) - 1; q >= 0; q--) {
      const auto row = U + (tree.row(k, q) + j * Tree::stride);
      Real u[C];
      each<C>([&](auto c) { u[c] = row[c * Tree::stride]; });
      each<R>([&](auto t) {
        const Real x = w[at + t];
        each<C>([&](auto c) { acc[t][c] = fma(x, u[c], acc[t][c]); });
      });
      at += kQuad;
    }
  }
  each<R>([&](auto i) {
    constexpr int t = R - 1 - i;
    const auto row = U + (tree.row(s, t) + j * Tree::stride);
    each<t>([&](auto p) {
      const Real x = w[at + p];
      each<C>([&](auto c) { acc[p][c] = fma(x, acc[t][c], acc[p][c]); });
    });
    if (all(lanes))
      each<C>([&](auto c) { row[c * Tree::stride] = acc[t][c]; });
    else
      each<C>([&](auto c) { row[c * Tree::stride] = select(lanes, acc[t][c], Real(row[c * Tree::stride])); });
    at += kQuad;
  });
}

// the factor of A into U, in the given lanes; the others keep theirs. w: 4 nv. Returns the lanes with a pivot that was too small
template <class B, class Tree>
BS_FN typename B::Mask factor_alone(const Tree& tree, typename B::RealRow A, typename B::RealRow U, typename B::RealRow w,
                                    typename B::Mask lanes) {
  constexpr int columns_of[kQuad] = {8, 5, 4, 3};  // for 1 ... 4 rows: what 16 registers hold
  typename B::Mask small = B::from_bits(0);
  for (int s = tree.count() - 1; s >= 0; s--) {
    with_constant<kQuad>(tree.size(s), [&](auto R) {
      constexpr int rows = decltype(R)::value, columns = columns_of[rows - 1];
      small = small | factor_diagonal<rows, B>(tree, s, A, U, w, lanes);
      const int n = tree.depth(s);
      for (int j = 0; j < n; j += columns)
        with_constant<columns>(min_int(columns, n - j),
                               [&](auto C) { factor_columns<rows, decltype(C)::value, B>(tree, s, A, U, w, lanes, j); });
    });
  }
  return small;
}

// y from what the descendants of segment s left of x: its own triangle
template <int R, class B, class Tree>
BS_FN void eliminate_own(const Tree& tree, int s, typename B::RealRow U, typename B::RealRow x, typename B::Real (&y)[R]) {
  using Real = typename B::Real;
  const int n = tree.depth(s) * Tree::stride, dof = tree.dof(s);
  each<R>([&](auto i) {
    constexpr int t = R - 1 - i;
    const auto row = U + (tree.row(s, t) + n);
    y[t] = y[t] * Real(row[t * Tree::stride]);
    x[dof + t] = y[t];
    each<t>([&](auto p) { y[p] = fma(-Real(row[p * Tree::stride]), y[t], y[p]); });
  });
}

// y(i) = (x(i) - sum over descendants k:  U(k, i) y(k)) / D(i) for the R DoFs of segment s, in place
template <int R, class B, class Tree>
BS_FN void solve_up_rows(const Tree& tree, int s, typename B::RealRow U, typename B::RealRow x) {
  using Real = typename B::Real;
  const int n = tree.depth(s) * Tree::stride, dof = tree.dof(s);
  Real acc[R];
  each<R>([&](auto t) { acc[t] = x[dof + t]; });
  for (int e = tree.below(s) - 1; e >= 0; e--) {
    const int k = tree.descendant(s, e);
    for (int q = tree.size(k) - 1; q >= 0; q--) {
      const auto row = U + (tree.row(k, q) + n);
      const Real y = x[tree.dof(k) + q];
      each<R>([&](auto t) { acc[t] = fma(-Real(row[t * Tree::stride]), y, acc[t]); });
    }
  }
  eliminate_own<R, B>(tree, s, U, x, acc);
}

// the same sums in the same order, when all descendants of s are done: its rows are read once, and it takes from its ancestors what
// they would subtract.
template <int R, class B, class Tree>
BS_FN void push_up_rows(const Tree& tree, int s, typename B::RealRow U, typename B::RealRow x) {
  using Real = typename B::Real;
  const int n = tree.depth(s), dof = tree.dof(s);
  Real y[R];
  int row[R];
  each<R>([&](auto t) { y[t] = x[dof + t], row[t] = tree.row(s, t); });
  eliminate_own<R, B>(tree, s, U, x, y);
  for (int a = 0; a < n; a++) {
    const int j = tree.column_dof(s, a);
    Real xj = x[j];
    each<R>([&](auto i) {
      constexpr int t = R - 1 - i;
      xj = fma(-Real(U[row[t] + a * Tree::stride]), y[t], xj);
    });
    x[j] = xj;
  }
}

// x(i) = y(i) - (sum over ancestors j:  U(i, j) x(j)) / D(i), in place
template <int R, class B, class Tree>
BS_FN void solve_down_rows(const Tree& tree, int s, typename B::RealRow U, typename B::RealRow x) {
  using Real = typename B::Real;
  const int n = tree.depth(s), dof = tree.dof(s);
  Real acc[R];
  int row[R];
  each<R>([&](auto t) { acc[t] = 0, row[t] = tree.row(s, t); });
  for (int a = 0; a < n; a++) {
    const Real xa = x[tree.column_dof(s, a)];
    each<R>([&](auto t) { acc[t] = fma(Real(U[row[t] + a * Tree::stride]), xa, acc[t]); });
  }
  each<R>([&](auto t) {
    const Real xt = fma(-acc[t], Real(U[row[t] + (n + t) * Tree::stride]), Real(x[dof + t]));
    x[dof + t] = xt;
    each<R - 1 - t>([&](auto i) {
      constexpr int p = t + 1 + i;
      acc[p] = fma(Real(U[row[p] + (n + t) * Tree::stride]), xt, acc[p]);
    });
  });
}

template <class B, class Tree>
BS_FN void solve_up(const Tree& tree, int s, typename B::RealRow U, typename B::RealRow x) {
  with_constant<kQuad>(tree.size(s), [&](auto R) { solve_up_rows<decltype(R)::value, B>(tree, s, U, x); });
}
template <class B, class Tree>
BS_FN void push_up(const Tree& tree, int s, typename B::RealRow U, typename B::RealRow x) {
  with_constant<kQuad>(tree.size(s), [&](auto R) { push_up_rows<decltype(R)::value, B>(tree, s, U, x); });
}
template <class B, class Tree>
BS_FN void solve_down(const Tree& tree, int s, typename B::RealRow U, typename B::RealRow x) {
  with_constant<kQuad>(tree.size(s), [&](auto R) { solve_down_rows<decltype(R)::value, B>(tree, s, U, x); });
}

// x = (L' D L)^-1 x
template <class B, class Tree>
BS_FN void solve_alone(const Tree& tree, typename B::RealRow U, typename B::RealRow x) {
  for (int s = tree.count() - 1; s >= 0; s--) push_up<B>(tree, s, U, x);
  for (int s = 0; s < tree.count(); s++) solve_down<B>(tree, s, U, x);
}

}  // namespace BS_ISA
}  // namespace batchsim
