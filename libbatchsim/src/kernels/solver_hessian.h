// The Hessian H = M + J' diag(w) J on the tile's elimination tree, its factor, and rank-one updates of the factor.
//
//   H = L' D L, as in factor_alone.h and factor_team.h: U = D L below, 1 / D on the diagonal
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
    const int row = d.elim_rowadr[i], Mrow = m.M_rowadr[i], chain = m.M_coladr[i];
    for (int a = 0; a < d.elim_depth[i]; a++) d.H[row + a] = 0;
    for (int a = 0; a <= m.dof_depth[i]; a++)
      d.H[row + d.elim_depth[m.M_colind[chain + a]]] = Real(d.M[Mrow + kQuad * a]) + Real(0);
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

// the tile's elimination tree, with H's rows one after another
template <class B>
struct EliminationTree {
  using Row = typename B::RealRow;
  using Real = typename B::Real;
  static constexpr int stride = 1;
  static constexpr bool in_panels = false;

  const ModelView<B>& m;
  const StateView<B>& d;

  BS_FN int count() const { return d.solver_n[kSegmentCount]; }
  BS_FN int size(int s) const { return d.seg_size[s]; }
  BS_FN int dof(int s) const { return d.seg_dof[s]; }
  BS_FN int depth(int s) const { return d.elim_depth[dof(s)]; }
  BS_FN int below(int s) const { return d.seg_descadr[s + 1] - d.seg_descadr[s]; }
  BS_FN int descendant(int s, int e) const { return d.seg_desc[d.seg_descadr[s] + e]; }
  BS_FN int row(int s, int t) const { return d.elim_rowadr[dof(s) + t]; }
  BS_FN int column_dof(int s, int a) const { return d.elim_colind[row(s, 0) + a]; }

  // ---- for a team. The rows of a segment take the place of a panel, and its sums are not split
  struct Rows {
    int s, depth, n;
    int row[kQuad];
    BS_FN int size() const { return n; }
  };
  struct Column {
    Rows rows;
    int j;
    BS_FN int x() const { return j - 1 - rows.depth; }
    BS_FN int segment() const { return rows.s; }
    static BS_FN bool rhs() { return false; }
  };
  struct Task {
    Column own;
    int descendants;
    static constexpr int target = 0;
    BS_FN int count() const { return descendants; }
    BS_FN int column() const { return own.j; }
    BS_FN int triangle() const { return own.rows.depth + 1; }
    BS_FN int size() const { return own.rows.n; }
    static BS_FN bool paired() { return false; }
    static BS_FN int second() { return 0; }
    static BS_FN int nchunk() { return 1; }
  };
  BS_FN Rows segment(int s) const {
    Rows g;
    g.s = s, g.depth = depth(s), g.n = size(s);
    for (int t = 0; t < kQuad; t++) g.row[t] = t < g.n ? int(d.elim_rowadr[dof(s) + t]) : -1;
    return g;
  }
  BS_FN int nheight() const { return d.solver_n[kHeightCount]; }
  BS_FN Height height(int h) const {
    const int begin = d.height_col[h], end = h < nheight() ? int(d.height_col[h + 1]) : begin;
    return {begin, end, begin, 0};
  }
  BS_FN Column place(int q) const {
    int a = 0, b = count();  // the segment whose columns q is among
    while (b - a > 1) {
      const int mid = (a + b) / 2;
      if (d.seg_col[mid] <= q)
        a = mid;
      else
        b = mid;
    }
    return {segment(d.seg_order[a]), q - d.seg_col[a] + 1};
  }
  BS_FN Task task(int q) const {
    const Column own = place(q);
    return {own, below(own.rows.s)};
  }
  BS_FN Rows panel(const Task& task, int e) const { return segment(descendant(task.own.rows.s, e)); }
  BS_FN Column column(const Column& c, int dx) const { return {c.rows, c.j + dx}; }
  BS_FN Column own(const Rows& rows, int x) const { return {rows, rows.depth + 1 + x}; }
  BS_FN Column own(const Task& task, int) const { return task.own; }
  // 0 where a row does not reach the column
  BS_FN Quad<Real> load(Row row, const Column& c) const {
    Quad<Real> q;
    for (int t = 0; t < kQuad; t++) q.v[t] = t < c.rows.n && c.x() <= t ? Real(row[c.rows.row[t] + c.j - 1]) : Real(0);
    return q;
  }
  BS_FN Quad<Real> load(Row row, const Rows& rows, int j) const { return load(row, Column{rows, j}); }
  BS_FN void store(Row row, const Column& c, Quad<Real> q) const {
    for (int t = 0; t < kQuad; t++)
      if (t < c.rows.n && c.x() <= t) row[c.rows.row[t] + c.j - 1] = q.v[t];
  }
};

// the factor of H in the given lanes; the others keep theirs
template <class B>
BS_FN void hessian_factor(Team<B> t, const ModelView<B>& m, const StateView<B>& d, typename B::Mask lanes) {
  const EliminationTree<B> tree{m, d};
  if constexpr (works_alone<B>)
    factor_alone<B>(tree, d.H, d.HU, d.elim_work, lanes);
  else
    factor_team<false, B>(t, tree, d.H, d.HU, TeamScratch<B>{d.elim_S, d.elim_work, tree.count()}, d.H, d.H);
}

// the factor of H + sum of sigma z z' over N vectors, one after another; z(v) is on the chain of leaf in hz, vector v from v nv on. For
// a member that works alone. Root-ward entries go first, as the next pivot waits for them
template <int N, class B>
BS_FN void rank_update(const ModelView<B>& m, const StateView<B>& d, int leaf, typename B::Real* sigma) {
  using Real = typename B::Real;
  const int chain = d.elim_rowadr[leaf], nv = m.nv;
  const auto z = d.hz;
  for (int a = d.elim_depth[leaf]; a >= 0; a--) {
    const int k = d.elim_colind[chain + a], row = d.elim_rowadr[k];
    Real inv = d.HU[row + a], sp[N], c[N];
    for (int v = 0; v < N; v++) {
      const Real p = z[v * nv + a];
      sp[v] = sigma[v] * p;
      c[v] = -(p * inv);
      // D new / D old is at least what keeps the pivot above the least one; 1 where nothing is added
      const Real growth = fma(sp[v] * p, inv, Real(1)), least = least_growth<B>(inv);
      const Real ratio = Real(1) / select(p != Real(0), max(growth, least), Real(1));
      inv = inv * ratio;
      sigma[v] = sigma[v] * ratio;
    }
    d.HU[row + a] = inv;
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

// search = -H^-1 grad in the lanes of `live`, 0 in the others
template <class B>
BS_FN void newton_direction(Team<B> t, const ModelView<B>& m, const StateView<B>& d, typename B::Mask live) {
  using Real = typename B::Real;
  const EliminationTree<B> tree{m, d};
  for (int k : t.range(0, m.nv)) d.search[k] = -Real(d.grad[k]);
  t.sync();
  if constexpr (works_alone<B>) {
    solve_alone<B>(tree, d.HU, d.search);
  } else {
    for (int h = 0; h < tree.nheight(); h++) {
      for (int q : t.range(d.height_adr[h], d.height_adr[h + 1])) solve_up<B>(tree, d.seg_order[q], d.HU, d.search);
      t.sync();
    }
    for (int h = tree.nheight() - 1; h >= 0; h--) {
      for (int q : t.range(d.height_adr[h], d.height_adr[h + 1])) solve_down<B>(tree, d.seg_order[q], d.HU, d.search);
      t.sync();
    }
  }
  for (int k : t.range(0, m.nv)) d.search[k] = select(live, Real(d.search[k]), Real(0));
  t.sync();
}

}  // namespace BS_ISA
}  // namespace batchsim
