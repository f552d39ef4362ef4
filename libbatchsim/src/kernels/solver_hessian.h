// The Hessian H = M + J' diag(w) J on the tile's elimination tree, its factor, and rank-one updates of the factor.
//
//   H = L' D L;  U = D L is kept unscaled:  U(i, j) = H(i, j) - sum over descendants k of i:  U(k, i) U(k, j) / D(k)
//
// A rank-one update H + sigma z z' in these terms, from the leaf to the root (Gill, Golub, Murray, Saunders 1974, method C1):
//
//   U(a, r) += sigma z(a) z(r);   z(r) -= z(a) U(a, r) / D(a)  with the old row;   sigma *= D old / D new
//
// Entries that are zero in a lane are exact no-ops in all of this, so are lanes with sigma = 0.
#pragma once

#include "kernels/solver_rows.h"

namespace batchsim {
inline namespace BS_ISA {

// H = M; adding zero turns -0 into +0, which no later zero term then changes
template <class B>
BS_FN void hessian_start(Team<B> t, const ModelView<B>& m, const StateView<B>& d) {
  using Real = typename B::Real;
  for (int i : t.range(0, m.nv)) {
    const int row = d.elim_rowadr[i], Mrow = m.M_rowadr[i];
    for (int a = 0; a < d.elim_depth[i]; a++) d.H[row + a] = 0;
    for (int a = 0; a <= m.dof_depth[i]; a++) d.H[row + d.elim_depth[m.M_colind[Mrow + a]]] = Real(d.M[Mrow + a]) + Real(0);
  }
  t.sync();
}

// H += J' diag(w) J for A rows of H and C columns, from a and b on along a chain of n DoFs; over `count` slots, their J at adr
template <int A, int C, class B>
BS_FN void hessian_block(const StateView<B>& d, int chain, int n, int a, int b, const int* adr, int count) {
  using Real = typename B::Real;
  Real acc[A][C];
  int row[A];
  for (int i = 0; i < A; i++) {
    row[i] = d.elim_rowadr[d.elim_colind[chain + a + i]] + b;
    for (int j = 0; j < C; j++) acc[i][j] = b + j <= a + i ? Real(d.H[row[i] + j]) : Real(0);
  }
  for (int e = 0; e < count; e++) {
    const auto J = d.J + (adr[e] + b), wJ = d.wJ + (e * n + a);
    Real col[C];
    for (int j = 0; j < C; j++) col[j] = J[j];
    for (int i = 0; i < A; i++)
      for (int j = 0; j < C; j++) acc[i][j] = fma(Real(wJ[i]), col[j], acc[i][j]);
  }
  for (int i = 0; i < A; i++)
    for (int j = 0; j < C; j++)
      if (b + j <= a + i) d.H[row[i] + j] = acc[i][j];
}

// H += J' diag(w) J over the active slots
template <class B>
BS_FN void hessian_add(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z, typename B::RealRow w) {
  using Real = typename B::Real;
  for (int g = 0; g < z.nleaf; g++) {
    const int first = d.list_leaf[g], last = d.list_leaf[g + 1];
    if (first == last) continue;
    const int leaf = d.leaf_list[g], n = d.elim_depth[leaf] + 1, slot = d.leaf_slot[g], chain = d.elim_rowadr[leaf];
    if constexpr (works_alone<B>) {
      // 4 x 3 entries in registers, some slots at a time
      constexpr int chunk = 16;
      for (int from = first; from < last; from += chunk) {
        const int count = min_int(chunk, last - from);
        int adr[chunk];
        for (int e = 0; e < count; e++) {
          const int s = d.row_list[from + e];
          adr[e] = d.leaf_J[g] + (s - slot) * n;
          const Real ws = w[s];
          for (int a = 0; a < n; a++) d.wJ[e * n + a] = ws * Real(d.J[adr[e] + a]);
        }
        for (int a = 0; a < n; a += 4)
          with_constant<4>(min_int(4, n - a), [&](auto N) {
            constexpr int A = decltype(N)::value;
            for (int b = 0; b < a + A; b += 3)
              with_constant<3>(min_int(3, a + A - b),
                               [&](auto C) { hessian_block<A, decltype(C)::value>(d, chain, n, a, b, adr, count); });
          });
      }
    } else {
      // an entry of H has one place on every chain: the same member adds to it for each leaf
      for (int a = 0; a < n; a++) {
        const int row = d.elim_rowadr[d.elim_colind[chain + a]];
        for (int b : t.range(0, a + 1)) {
          Real acc = d.H[row + b];
          for (int e = first; e < last; e++) {
            const int s = d.row_list[e], adr = d.leaf_J[g] + (s - slot) * n;
            acc = fma(Real(w[s]) * Real(d.J[adr + a]), Real(d.J[adr + b]), acc);
          }
          d.H[row + b] = acc;
        }
      }
    }
  }
  t.sync();
  // the diagonal is the last entry of a row
  add_diagonal(t, m, d, z, true, w, d.H, [&](int k) { return d.elim_rowadr[k + 1] - 1; });
}

// columns j ... j + N - 1 of row i of U
template <int N, class B>
BS_FN void factor_columns(const StateView<B>& d, int i, int j, typename B::Mask lanes) {
  using Real = typename B::Real;
  const int row = d.elim_rowadr[i], n = d.elim_depth[i];
  Real acc[N];
  for (int q = 0; q < N; q++) acc[q] = d.H[row + j + q];
  for (int e = d.elim_descadr[i]; e < d.elim_descadr[i + 1]; e++) {
    const int k = d.elim_desc[e], rk = d.elim_rowadr[k];
    const Real c = -(Real(d.HU[rk + n]) * Real(d.HDinv[k]));
    for (int q = 0; q < N; q++) acc[q] = fma(c, Real(d.HU[rk + j + q]), acc[q]);
  }
  for (int q = 0; q < N; q++) d.HU[row + j + q] = select(lanes, acc[q], Real(d.HU[row + j + q]));
}

// the factor of H in the given lanes; the others keep theirs
template <class B>
BS_FN void hessian_factor(Team<B> t, const StateView<B>& d, const RowCounts& z, typename B::Mask lanes) {
  using Real = typename B::Real;
  for (int p = 0; p < z.nphase; p++) {
    const int start = d.elim_phase[p], count = d.elim_phase[p + 1] - start;
    const int length = d.elim_depth[d.elim_order[start]] + 1, nblock = (length + B::block - 1) / B::block;
    for (int e : t.range(0, count * nblock)) {
      const int i = d.elim_order[start + e / nblock], j = e % nblock * B::block;
      with_constant<B::block>(min_int(B::block, length - j),
                              [&](auto N) { factor_columns<decltype(N)::value, B>(d, i, j, lanes); });
    }
    t.sync();
    for (int q : t.range(start, start + count)) {
      const int i = d.elim_order[q];
      const int diag = d.elim_rowadr[i + 1] - 1;
      d.HDinv[i] = select(lanes, Real(1) / max(Real(d.HU[diag]), least_pivot<B>(d.H[diag])), Real(d.HDinv[i]));
    }
    t.sync();
  }
}

// the factor of H + sum of sigma z z' over N vectors, one after another; z(v) is on the chain of leaf in hz, vector v from v nv on. For
// a member that works alone. Root-ward entries go first, as the next pivot waits for them
template <int N, class B>
BS_FN void rank_update(const ModelView<B>& m, const StateView<B>& d, int leaf, typename B::Real* sigma) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  const int chain = d.elim_rowadr[leaf], nv = m.nv;
  const auto z = d.hz;
  for (int a = d.elim_depth[leaf]; a >= 0; a--) {
    const int k = d.elim_colind[chain + a], row = d.elim_rowadr[k];
    Real D = d.HU[row + a], inv = d.HDinv[k], sp[N], c[N];
    for (int v = 0; v < N; v++) {
      const Real p = z[v * nv + a];
      const Mask some = p != Real(0);
      sp[v] = sigma[v] * p;
      c[v] = -(p * inv);
      const Real Dnew = max(fma(sp[v], p, D), least_pivot<B>(D));
      inv = Real(1) / Dnew;
      sigma[v] = select(some, sigma[v] * (D * inv), sigma[v]);
      D = Dnew;
    }
    d.HU[row + a] = D, d.HDinv[k] = inv;
    for (int r = a - 1; r >= 0; r--) {
      Real u = d.HU[row + r];
      for (int v = 0; v < N; v++) {
        const Real zr = z[v * nv + r];
        z[v * nv + r] = fma(c[v], u, zr);
        u = fma(sp[v], zr, u);
      }
      d.HU[row + r] = u;
    }
  }
}

// hz = D^-1 L'^-1 (-grad) for N DoFs of a body, the last of them i
template <int N, class B>
BS_FN void solve_up(const StateView<B>& d, int i) {
  using Real = typename B::Real;
  const int first = i - N + 1, n = d.elim_depth[first];
  Real acc[N];
  for (int q = 0; q < N; q++) acc[q] = Real(0) - Real(d.grad[first + q]);
  for (int e = d.elim_descadr[i]; e < d.elim_descadr[i + 1]; e++) {
    const int k = d.elim_desc[e], adr = d.elim_rowadr[k] + n;
    const Real y = d.hz[k];
    for (int q = 0; q < N; q++) acc[q] = fma(-Real(d.HU[adr + q]), y, acc[q]);
  }
  for (int q = N - 1; q >= 0; q--) {
    const Real y = acc[q] * Real(d.HDinv[first + q]);
    const int adr = d.elim_rowadr[first + q] + n;
    d.hz[first + q] = y;
    for (int p = q - 1; p >= 0; p--) acc[p] = fma(-Real(d.HU[adr + p]), y, acc[p]);
  }
}

// search = L^-1 hz for N DoFs of a body, the last of them i; 0 in the lanes that are not live
template <int N, class B>
BS_FN void solve_down(const StateView<B>& d, int i, typename B::Mask live) {
  using Real = typename B::Real;
  const int first = i - N + 1, n = d.elim_depth[first], chain = d.elim_rowadr[first];
  Real acc[N];
  int row[N];
  for (int q = 0; q < N; q++) acc[q] = 0, row[q] = d.elim_rowadr[first + q];
  for (int a = 0; a < n; a++) {
    const Real s = d.search[d.elim_colind[chain + a]];
    for (int q = 0; q < N; q++) acc[q] = fma(Real(d.HU[row[q] + a]), s, acc[q]);
  }
  for (int q = 0; q < N; q++) {
    const Real s = select(live, fma(-acc[q], Real(d.HDinv[first + q]), Real(d.hz[first + q])), Real(0));
    d.search[first + q] = s;
    for (int p = q + 1; p < N; p++) acc[p] = fma(Real(d.HU[row[p] + n + q]), s, acc[p]);
  }
}

// search = -H^-1 grad in the lanes of `live`, 0 in the others
template <class B>
BS_FN void newton_direction(Team<B> t, const StateView<B>& d, const RowCounts& z, typename B::Mask live) {
  if constexpr (works_alone<B>) {
    for (int e = 0; e < z.nnode; e++)
      with_constant<node_length<B>>(d.node_size[e], [&](auto N) { solve_up<decltype(N)::value>(d, d.node_dof[e]); });
    for (int e = z.nnode - 1; e >= 0; e--)
      with_constant<node_length<B>>(d.node_size[e], [&](auto N) { solve_down<decltype(N)::value>(d, d.node_dof[e], live); });
  } else {
    for (int p = 0; p < z.nphase; p++) {
      for (int q : t.range(d.elim_phase[p], d.elim_phase[p + 1])) solve_up<1>(d, d.elim_order[q]);
      t.sync();
    }
    for (int p = z.nphase - 1; p >= 0; p--) {
      for (int q : t.range(d.elim_phase[p], d.elim_phase[p + 1])) solve_down<1>(d, d.elim_order[q], live);
      t.sync();
    }
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
