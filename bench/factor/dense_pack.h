// Dense Cholesky over packs, A = L L', and the solution with one right-hand side: R x R entries in registers.
//
// Rows lie in panels of R, the entries of a column side by side: entry (R I + t, j) at R R I (I + 1) / 2 + R j + t, j up to the panel's
// own columns. The right-hand side is one more row of A, row n: what becomes of it is y = L^-1 b. Rows after it are those of the
// identity. L keeps the inverse of its diagonal.
#pragma once

#include "backend/backend.h"

namespace batchsim {
inline namespace BS_ISA {

// entries of A and L
inline int dense_panel(int R, int I) { return R * R * I * (I + 1) / 2; }
inline int dense_panels(int R, int n) { return n / R + 1; }
// the diagonal of the right-hand side's row: what is left of it must stay positive
inline constexpr double kRhsDiagonal = 1e30;

// lower triangle: L on it and below, 1 / L on the diagonal
template <class Real, int R>
void dense_triangle(Real (&a)[R][R]) {
  for (int j = 0; j < R; j++) {
    a[j][j] = Real(1) / sqrt(a[j][j]);
    for (int i = j + 1; i < R; i++) {
      a[i][j] = a[i][j] * a[j][j];
      for (int k = j + 1; k <= i; k++) a[i][k] = fma(-a[i][j], a[k][j], a[i][k]);
    }
  }
}

// tile (I, J) of L, when the columns before J are done
template <int R, class B>
void dense_tile(typename B::RealRow A, typename B::RealRow L, int I, int J) {
  using Real = typename B::Real;
  const auto pi = L + dense_panel(R, I), pj = L + dense_panel(R, J), corner = pj + R * R * J;
  const auto from = A + (dense_panel(R, I) + R * R * J);
  Real sum[R][R];
  for (int t = 0; t < R; t++)
    for (int c = 0; c < R; c++) sum[t][c] = 0;
  for (int k = 0; k < R * R * J; k += R) {
    Real b[R];
    for (int c = 0; c < R; c++) b[c] = pj[k + c];
    for (int t = 0; t < R; t++) {
      const Real a = pi[k + t];
      for (int c = 0; c < R; c++) sum[t][c] = fma(a, b[c], sum[t][c]);
    }
  }
  for (int t = 0; t < R; t++)
    for (int c = 0; c < R; c++) sum[t][c] = from[R * c + t] - sum[t][c];
  if (I == J) {
    dense_triangle<Real, R>(sum);
  } else {
    for (int c = 0; c < R; c++)
      for (int t = 0; t < R; t++) {
        sum[t][c] = sum[t][c] * corner[R * c + c];
        for (int j = c + 1; j < R; j++) sum[t][j] = fma(-sum[t][c], Real(corner[R * c + j]), sum[t][j]);
      }
  }
  for (int t = 0; t < R; t++)
    for (int c = 0; c < R; c++) pi[R * R * J + R * c + t] = sum[t][c];
}

// Two panels at a time: they stay in the first cache while those above stream past, each read once for both. At nv 192 that takes a third
// off. Tried: two columns of tiles at a time, with their corners at hand; no faster there, and slower at nv 89
template <int R, class B>
void dense_factor(int n, typename B::RealRow A, typename B::RealRow L) {
  const int panels = dense_panels(R, n);
  for (int I = 0; I < panels; I += 2)
    for (int J = 0; J <= min_int(I + 1, panels - 1); J++)
      for (int i = max_int(I, J); i < min_int(I + 2, panels); i++) dense_tile<R, B>(A, L, i, J);
}

// x = L'^-1 y, where y is row n; x has room for whole panels
template <int R, class B>
void dense_solve(int n, typename B::RealRow L, typename B::RealRow x) {
  using Real = typename B::Real;
  const auto last = L + (dense_panel(R, n / R) + n % R);
  for (int j = 0; j < n; j++) x[j] = last[R * j];
  for (int j = n; j < R * dense_panels(R, n); j++) x[j] = 0;
  for (int I = (n - 1) / R; I >= 0; I--) {
    const auto row = L + dense_panel(R, I);
    const auto diagonal = row + R * R * I;
    Real y[R];
    for (int t = R - 1; t >= 0; t--) {
      y[t] = x[R * I + t];
      for (int u = t + 1; u < R; u++) y[t] = fma(-Real(diagonal[R * t + u]), y[u], y[t]);
      y[t] = y[t] * diagonal[R * t + t];
      x[R * I + t] = y[t];
    }
    for (int j = 0; j < R * I; j++) {
      Real s = x[j];
      for (int t = 0; t < R; t++) s = fma(-Real(row[R * j + t]), y[t], s);
      x[j] = s;
    }
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
