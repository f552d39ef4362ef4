// Products with the constraint Jacobian and with M, and sums over rows, in the layout of solver_layout.h.
//
// Every sum goes in one order: chains from the root, slots ascending, descendants from the highest. Entries that a world does not
// have are exact zeros in it, so that its sums have the same bits in every tile.
#pragma once

#include "kernels/solver_layout.h"

namespace batchsim {
inline namespace BS_ISA {

// counts of this step
struct RowCounts {
  int nslot, nlim, nfric, nleaf, nrun;
  BS_FN int limits() const { return nslot; }
  BS_FN int one_sided() const { return nslot + nlim; }  // contacts and limits: force >= 0
  BS_FN int all() const { return nslot + nlim + nfric; }
};
template <class B>
BS_FN RowCounts row_counts(const StateView<B>& d) {
  return {d.solver_n[kSlotCount], d.solver_n[kLimitCount], d.solver_n[kFrictionCount], d.solver_n[kLeafCount],
          d.solver_n[kRunCount]};
}

// the DoF of a limit or friction slot, and the sign of its only entry of J
template <class B>
BS_FN int limit_dof(const ModelView<B>& m, const StateView<B>& d, int q) {
  return m.jnt_dofadr[m.limit_jntid[d.lim_list[q] / 2]];
}
template <class B>
BS_FN typename B::Real limit_sign(const StateView<B>& d, int q) {
  return d.lim_list[q] % 2 ? -1 : 1;
}

// N sums at once: f(i, s) adds to s[0] ... s[N-1]
template <int N, class B, class F>
BS_FN void sums(Team<B> t, int a, int b, typename B::Real (&s)[N], F f) {
  using Real = typename B::Real;
  if constexpr (works_alone<B>) {
    for (int i = a; i < b; i++) f(i, s);
  } else {
    for (int k = 0; k < N; k++)
      s[k] += t.sum(a, b, [&](int i) {
        Real p[N];
        for (Real& x : p) x = 0;
        f(i, p);
        return p[k];
      });
  }
}

// y = M x in the rows of N DoFs of a segment, from `first` on
template <int N, class B>
BS_FN void mul_M_rows(const ModelView<B>& m, const StateView<B>& d, int first, typename B::RealRow x, typename B::RealRow y) {
  using Real = typename B::Real;
  const int n = m.dof_depth[first], last = first + N - 1;
  const int chain = m.M_coladr[first];
  Real up[N], down[N], own[N];
  int row[N];
  for (int q = 0; q < N; q++) up[q] = 0, down[q] = 0, own[q] = x[first + q], row[q] = m.M_rowadr[first + q];
  for (int a = 0; a < n; a++) {
    const Real xa = x[m.M_colind[chain + a]];
    for (int q = 0; q < N; q++) up[q] = fma(Real(d.M[row[q] + kQuad * a]), xa, up[q]);
  }
  for (int k = last + m.dof_subtreenum[last]; k > last; k--) {
    const Real xk = x[k];
    const int rk = m.M_rowadr[k] + kQuad * n;
    for (int q = 0; q < N; q++) down[q] = fma(Real(d.M[rk + kQuad * q]), xk, down[q]);
  }
  for (int q = 0; q < N; q++) {
    for (int p = 0; p <= q; p++) up[q] = fma(Real(d.M[row[q] + kQuad * (n + p)]), own[p], up[q]);
    for (int p = N - 1; p > q; p--) down[q] = fma(Real(d.M[row[p] + kQuad * (n + q)]), own[p], down[q]);
    y[first + q] = up[q] + down[q];
  }
}

// y = M x
template <class B>
BS_FN void mul_M(Team<B> t, const ModelView<B>& m, const StateView<B>& d, typename B::RealRow x, typename B::RealRow y) {
  if constexpr (works_alone<B>) {
    for (int s = 0; s < m.nseg; s++)
      with_constant<kQuad>(m.seg_size[s], [&](auto N) { mul_M_rows<decltype(N)::value>(m, d, m.seg_dof[s], x, y); });
  } else {
    for (int k : t.range(0, m.nv)) mul_M_rows<1>(m, d, k, x, y);
  }
}

// y = J x
template <class B>
BS_FN void mul_J(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z, typename B::RealRow x,
                 typename B::RealRow y) {
  using Real = typename B::Real;
  for (int e : t.range(0, z.nrun)) {
    const int g = d.run_leaf[e], leaf = d.leaf_list[g], n = d.elim_depth[leaf] + 1, row = d.elim_rowadr[leaf];
    const int s = d.run_slot[e], end = d.run_slot[e + 1];
    const auto J = d.J + (d.leaf_J[g] + (s - d.leaf_slot[g]) * n);
    with_constant<run_length<B>>(end - s, [&](auto N) {
      constexpr int w = decltype(N)::value;
      Real acc[w];
      for (int q = 0; q < w; q++) acc[q] = 0;
      for (int a = 0; a < n; a++) {
        const Real xa = x[d.elim_colind[row + a]];
        for (int q = 0; q < w; q++) acc[q] = fma(Real(J[q * n + a]), xa, acc[q]);
      }
      for (int q = 0; q < w; q++) y[s + q] = acc[q];
    });
  }
  for (int q : t.range(0, z.nlim)) y[z.limits() + q] = limit_sign(d, q) * Real(x[limit_dof(m, d, q)]);
  for (int q : t.range(0, z.nfric)) y[z.one_sided() + q] = Real(x[m.fric_dofid[q]]);
}

// the J slots for which keep(slot) holds into row_list, each leaf's part from list_leaf; returns how many; barriers on both sides
template <class B, class F>
BS_FN int active_slots(Team<B> t, const StateView<B>& d, const RowCounts& z, F keep) {
  const int n = t.filter(d.row_list, 0, z.nslot, keep);
  if (auto lead = t.leader()) {
    int q = 0;
    for (int g = 0; g < z.nleaf; g++) {
      d.list_leaf[g] = q;
      while (q < n && d.row_list[q] < d.leaf_slot[g + 1]) q++;
    }
    d.list_leaf[z.nleaf] = n;
  }
  t.sync();
  return n;
}

// y += J' f over the active slots. A DoF has one depth on every chain, so that the same member adds to it for each leaf
template <class B>
BS_FN void add_JT(Team<B> t, const StateView<B>& d, const RowCounts& z, typename B::RealRow f, typename B::RealRow y) {
  using Real = typename B::Real;
  for (int g = 0; g < z.nleaf; g++) {
    const int first = d.list_leaf[g], last = d.list_leaf[g + 1];
    if (first == last) continue;
    const int leaf = d.leaf_list[g], n = d.elim_depth[leaf] + 1, row = d.elim_rowadr[leaf];
    const int slot = d.leaf_slot[g];
    const auto J = d.J + d.leaf_J[g];
    for (int b : t.range(0, (n + B::block - 1) / B::block)) {
      const int j = b * B::block;
      with_constant<B::block>(min_int(B::block, n - j), [&](auto N) {
        constexpr int w = decltype(N)::value;
        Real acc[w];
        for (int q = 0; q < w; q++) acc[q] = y[d.elim_colind[row + j + q]];
        for (int e = first; e < last; e++) {
          const int s = d.row_list[e], adr = (s - slot) * n + j;
          const Real fs = f[s];
          for (int q = 0; q < w; q++) acc[q] = fma(Real(J[adr + q]), fs, acc[q]);
        }
        for (int q = 0; q < w; q++) y[d.elim_colind[row + j + q]] = acc[q];
      });
    }
  }
}

// y(dof) += J' f (J' J f if squared) over limits, then friction loss; place(dof) is where y keeps it. Both sides of a joint may be
// active: one member adds both
template <class B, class Place>
BS_FN void add_diagonal(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z, bool squared,
                        typename B::RealRow f, typename B::RealRow y, Place place) {
  using Real = typename B::Real;
  for (int q : t.range(0, z.nlim)) {
    const int k = limit_dof(m, d, q);
    if (q > 0 && limit_dof(m, d, q - 1) == k) continue;
    Real acc = y[place(k)];
    for (int e = q; e < z.nlim && limit_dof(m, d, e) == k; e++) {
      const Real fe = f[z.limits() + e];
      acc += squared ? fe : limit_sign(d, e) * fe;
    }
    y[place(k)] = acc;
  }
  t.sync();
  for (int q : t.range(0, z.nfric)) {
    const int at = place(m.fric_dofid[q]);
    y[at] = Real(y[at]) + Real(f[z.one_sided() + q]);
  }
  t.sync();
}

}  // namespace BS_ISA
}  // namespace batchsim
