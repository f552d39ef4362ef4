// Factor and solve on the DoF tree: M = L' D L, L with M's pattern.
//
// A level of the tree at a time, deepest first; all rows of a level have the same length. With U = D L (unscaled),
//
//   U(i, j) = M(i, j) - sum over descendants k of i:  U(k, i) U(k, j) / D(k)
//
//   in     M (any matrix with the tree's pattern)
//   out    L (nM)      rows scaled: L below, D on the diagonal
//          Dinv (nv)   1 / D
//   warns  INERTIA where some D is below the least pivot: it is clamped, as MuJoCo 4.0 does
//   cost   sum over DoFs of depth^2 / 2 multiply-adds; a barrier a level
//   source engine_core_smooth.c mj_factorI, mj_solveLD; Featherstone, sec. 6.5
//
// On packs the gather with up to eight columns in registers is 1.3 to 1.5 times faster than MuJoCo's order (rows subtracted from
// their ancestors').
#pragma once

#include "kernels/status.h"

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

// columns j0 ... j0 + N - 1 of row i, gathered from the rows of its descendants
template <int N, class B>
BS_FN void gather_columns(const ModelView<B>& m, typename B::RealRow M, typename B::RealRow U, typename B::RealRow Dinv, int i,
                          int j0) {
  using Real = typename B::Real;
  const int row = m.M_rowadr[i], n = m.dof_depth[i];
  Real acc[N];
  for (int q = 0; q < N; q++) acc[q] = M[row + j0 + q];
  for (int k = i + 1; k <= i + m.dof_subtreenum[i]; k++) {
    const int rk = m.M_rowadr[k];
    const Real c = -(Real(U[rk + n]) * Real(Dinv[k]));
    for (int q = 0; q < N; q++) acc[q] = fma(c, Real(U[rk + j0 + q]), acc[q]);
  }
  for (int q = 0; q < N; q++) U[row + j0 + q] = acc[q];
}

// fn(std::integral_constant) with the constant n, 1 ... 8
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

template <class B>
BS_FN typename B::Mask factor_tree(Team<B> t, const ModelView<B>& m, typename B::RealRow M, typename B::RealRow L,
                                   typename B::RealRow Dinv) {
  using Real = typename B::Real;

  for (int level = 0; level < m.nlevel; level++) {
    const int start = m.dof_leveladr[level], count = m.dof_leveladr[level + 1] - start;
    const int length = m.dof_depth[m.dof_order[start]] + 1;
    const int nblock = (length + B::block - 1) / B::block;
    for (int e : t.range(0, count * nblock)) {
      const int i = m.dof_order[start + e / nblock], j0 = e % nblock * B::block;
      with_constant<B::block>(min_int(B::block, length - j0),
                              [&](auto N) { gather_columns<decltype(N)::value, B>(m, M, L, Dinv, i, j0); });
    }
    t.sync();
    for (int q : t.range(start, start + count)) {
      const int i = m.dof_order[q], diag = m.M_rowadr[i] + m.dof_depth[i];
      Dinv[i] = Real(1) / max(Real(L[diag]), least_pivot<B>(M[diag]));
    }
    t.sync();
  }

  // rows of U become rows of L
  for (int i : t.range(0, m.nv)) {
    const int row = m.M_rowadr[i], n = m.dof_depth[i];
    const Real s = Dinv[i];
    for (int a = 0; a < n; a++) L[row + a] = Real(L[row + a]) * s;
  }
  return t.any_lane(0, m.nv, [&](int i) {
    const int diag = m.M_rowadr[i] + m.dof_depth[i];
    return Real(L[diag]) < least_pivot<B>(M[diag]);
  });
}

// x = (L' D L)^-1 x
template <class B>
BS_FN void solve_tree(Team<B> t, const ModelView<B>& m, typename B::RealRow L, typename B::RealRow Dinv, typename B::RealRow x) {
  using Real = typename B::Real;

  // x(j) -= sum over descendants k: L(k, j) x(k), deepest level first
  for (int level = 1; level < m.nlevel; level++) {
    for (int q : t.range(m.dof_leveladr[level], m.dof_leveladr[level + 1])) {
      const int j = m.dof_order[q], n = m.dof_depth[j];
      Real acc = x[j];
      for (int k = j + 1; k <= j + m.dof_subtreenum[j]; k++) acc = fma(-Real(L[m.M_rowadr[k] + n]), Real(x[k]), acc);
      x[j] = acc;
    }
    t.sync();
  }

  // x(i) = x(i) / D(i) - sum over ancestors j: L(i, j) x(j), from the roots
  for (int level = m.nlevel - 1; level >= 0; level--) {
    for (int q : t.range(m.dof_leveladr[level], m.dof_leveladr[level + 1])) {
      const int i = m.dof_order[q], row = m.M_rowadr[i], n = m.dof_depth[i];
      Real acc = Real(x[i]) * Real(Dinv[i]);
      for (int a = 0; a < n; a++) acc = fma(-Real(L[row + a]), Real(x[m.M_colind[row + a]]), acc);
      x[i] = acc;
    }
    t.sync();
  }
}

template <class B>
BS_FN void factor_m(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  raise(t, d, kBadInertia, factor_tree(t, m, d.M, d.qLD, d.qLDiagInv));
}

}  // namespace BS_ISA
}  // namespace batchsim
