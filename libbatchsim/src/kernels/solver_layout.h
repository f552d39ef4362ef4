// Where the solver keeps the rows of a tile: the elimination tree, and the slots that lanes put their rows into.
//
// Tree. H = M + J' D J has the pattern of M, chains of the DoF tree, while every row lies on one chain. A contact between two limbs
// joins their chains: its DoFs enter the pattern of the deepest one, and the symbolic factorisation carries them down,
//
//   parent(k) = highest DoF in pattern(k);   pattern(parent) |= pattern(k) without it
//
// which gives one tree for all lanes of the tile. Where no lane has such a contact it is the DoF tree.
//
// Slots. A slot belongs to a leaf and has room for J on the leaf's chain. A lane's rows are ordered by leaf, highest first; leaves
// are served in that order: as many slots as the lane with most rows there needs, which lanes with fewer fill with the next rows of
// their own order, as long as those lie on the chain. So the rows of a world keep one relative order whatever its neighbours are,
// and what lies between them are exact zeros: the sums of a world do not depend on its tile.
//
// in   con_nrow, con_leaf1, con_leaf2, con_work, con_row, con_D, lim_D, fric_D, cdof
// out  elim_*, leaf_*, run_*, slot_*, lim_list, solver_n, J, row_D, row_aref, row_work
#pragma once

#include "kernels/make_constraint.h"

#include "kernels/factor_m.h"

namespace batchsim {
inline namespace BS_ISA {

// indices into solver_n
enum { kSlotCount, kLimitCount, kFrictionCount, kLeafCount, kRunCount, kSegmentCount, kHeightCount, kFactorWork };

// J slots that one member multiplies at once
template <class B>
inline constexpr int run_length = works_alone<B> ? 4 : 1;

// ---- elimination tree
// the parents of this tile's tree; false: they are the DoF tree's
template <class B>
BS_FN bool join_chains(const ModelView<B>& m, const StateView<B>& d, int ncon) {
  const int nword = (m.nv + 31) / 32;
  bool joined = false;
  const auto set = [&](int row, int k) {
    d.elim_pattern[row * nword + k / 32] = d.elim_pattern[row * nword + k / 32] | int(1u << k % 32);
  };
  const auto set_chain = [&](int row, int leaf) {
    for (int k = leaf; k >= 0; k = m.dof_parentid[k]) set(row, k);
  };
  for (int c = 0; c < ncon; c++) {
    for (int l = 0; l < B::width; l++) {
      if (c >= d.ncon(0, l) || !d.con_nrow(c, l)) continue;
      const int leaf1 = d.con_leaf1(c, l), leaf2 = d.con_leaf2(c, l);
      if (!joins_limbs(m, leaf1, leaf2)) continue;
      if (!joined) {
        for (int k = 0; k < m.nv; k++) {
          const int p = m.dof_parentid[k];
          for (int i = 0; i < nword; i++) d.elim_pattern[k * nword + i] = p < 0 ? 0 : int(d.elim_pattern[p * nword + i]);
          if (p >= 0) set(k, p);
        }
        joined = true;
      }
      set_chain(max_int(leaf1, leaf2), min_int(leaf1, leaf2));
    }
  }
  if (!joined) return false;

  for (int k = m.nv - 1; k >= 0; k--) {
    int w = nword - 1;
    while (w >= 0 && !d.elim_pattern[k * nword + w]) w--;
    if (w < 0) {
      d.elim_parent[k] = -1;
      continue;
    }
    const unsigned word = d.elim_pattern[k * nword + w];
    int bit = 31;
    while (!(word >> bit & 1)) bit--;
    const int p = 32 * w + bit;
    d.elim_parent[k] = p;
    for (int i = 0; i <= w; i++) d.elim_pattern[p * nword + i] = d.elim_pattern[p * nword + i] | d.elim_pattern[k * nword + i];
    d.elim_pattern[p * nword + w] = int(unsigned(d.elim_pattern[p * nword + w]) & ~(1u << bit));
  }
  return true;
}

// rows, descendants and phases from the parents
template <class B>
BS_FN void elimination_tree(const ModelView<B>& m, const StateView<B>& d, int ncon) {
  const int nv = m.nv;
  const bool joined = join_chains(m, d, ncon);
  if (joined) {
    int adr = 0;
    for (int k = 0; k < nv; k++) {
      const int p = d.elim_parent[k], n = p < 0 ? 0 : d.elim_depth[p] + 1;
      d.elim_depth[k] = n;
      d.elim_rowadr[k] = adr;
      for (int a = 0; a < n; a++) d.elim_colind[adr + a] = int(d.elim_colind[d.elim_rowadr[p] + a]);
      d.elim_colind[adr + n] = k;
      adr += n + 1;
    }
    d.elim_rowadr[nv] = adr;
  } else {
    for (int k = 0; k < nv; k++) d.elim_parent[k] = m.dof_parentid[k], d.elim_depth[k] = m.dof_depth[k];
    int adr = 0;
    for (int k = 0; k < nv; k++) {
      d.elim_rowadr[k] = adr;
      for (int a = 0; a <= m.dof_depth[k]; a++) d.elim_colind[adr++] = m.M_colind[m.M_coladr[k] + a];
    }
    d.elim_rowadr[nv] = adr;
  }

  // segments, their descendants and heights
  for (int k = 0; k < nv; k++) d.elim_children[k] = 0;
  for (int k = 0; k < nv; k++)
    if (d.elim_parent[k] >= 0) d.elim_children[d.elim_parent[k]] = d.elim_children[d.elim_parent[k]] + 1;
  int nseg = 0;
  for (int k = 0; k < nv; k++) {
    const int p = d.elim_parent[k];
    if (p >= 0 && p == k - 1 && d.elim_children[p] == 1 && d.seg_size[nseg - 1] < kQuad) {
      d.seg_size[nseg - 1] = d.seg_size[nseg - 1] + 1;
    } else {
      d.seg_dof[nseg] = k, d.seg_size[nseg] = 1, d.seg_height[nseg] = 0, d.seg_descadr[nseg] = 0;
      nseg++;
    }
    d.elim_seg[k] = nseg - 1;
  }
  const auto parent = [&](int s) {
    const int p = d.elim_parent[d.seg_dof[s]];
    return p < 0 ? -1 : int(d.elim_seg[p]);
  };
  int nheight = 0;
  for (int s = nseg - 1; s >= 0; s--) {
    const int p = parent(s), h = d.seg_height[s];
    nheight = max_int(nheight, h + 1);
    if (p < 0) continue;
    d.seg_height[p] = max_int(d.seg_height[p], h + 1);
    d.seg_descadr[p] = d.seg_descadr[p] + d.seg_descadr[s] + 1;
  }
  int adr = 0;
  for (int s = 0; s < nseg; s++) {
    const int n = d.seg_descadr[s];
    d.seg_descadr[s] = adr;
    adr += n;
  }
  for (int s = 0; s < nseg; s++)
    for (int p = parent(s); p >= 0; p = parent(p)) {
      const int place = d.seg_descadr[p];
      d.seg_desc[place] = s;
      d.seg_descadr[p] = place + 1;
    }
  for (int s = nseg; s > 0; s--) d.seg_descadr[s] = int(d.seg_descadr[s - 1]);
  d.seg_descadr[0] = 0;
  int place = 0, column = 0;
  for (int h = 0; h < nheight; h++) {
    d.height_adr[h] = place, d.height_col[h] = column;
    for (int s = 0; s < nseg; s++)
      if (d.seg_height[s] == h) {
        d.seg_order[place] = s, d.seg_col[place++] = column;
        column += d.elim_depth[d.seg_dof[s]] + kQuad;
      }
  }
  d.height_adr[nheight] = place, d.height_col[nheight] = column, d.seg_col[place] = column;
  d.solver_n[kSegmentCount] = nseg, d.solver_n[kHeightCount] = nheight;

  // multiply-adds of adding rows and factoring anew on the DoF tree, which every world shares
  int work = 0;
  for (int k = 0; k < nv; k++) work += (m.dof_subtreenum[k] + 2) * (m.dof_depth[k] + 1);
  d.solver_n[kFactorWork] = work;
}

template <class B>
BS_FN bool on_chain(const StateView<B>& d, int leaf, int k) {
  return d.elim_depth[k] <= d.elim_depth[leaf] && d.elim_colind[d.elim_rowadr[leaf] + d.elim_depth[k]] == k;
}

// ---- slots
// each lane's contacts by leaf, highest first, in MuJoCo's order within a leaf
template <class B>
BS_FN void order_contacts(const ModelView<B>& m, const StateView<B>& d, int ncon) {
  for (int k = 0; k < m.nv; k++)
    for (int l = 0; l < B::width; l++) d.leaf_head(k, l) = -1;
  for (int c = ncon - 1; c >= 0; c--)
    for (int l = 0; l < B::width; l++) {
      if (c >= d.ncon(0, l) || !d.con_nrow(c, l)) continue;
      const int leaf = max_int(d.con_leaf1(c, l), d.con_leaf2(c, l));
      d.con_next(c, l) = int(d.leaf_head(leaf, l));
      d.leaf_head(leaf, l) = c;
    }
  int n[B::width] = {};
  for (int k = m.nv - 1; k >= 0; k--)
    for (int l = 0; l < B::width; l++) {
      for (int c = d.leaf_head(k, l); c >= 0; c = d.con_next(c, l)) d.con_order(n[l]++, l) = c;
      d.leaf_end(k, l) = n[l];
    }
}

template <class B>
BS_FN void assign_slots(const ModelView<B>& m, const StateView<B>& d, int ncon) {
  order_contacts(m, d, ncon);
  int at[B::width] = {}, row[B::width] = {};  // next row of each lane: place in con_order, row of that contact
  int nslot = 0, nleaf = 0, nrun = 0, adr = 0;
  for (int k = m.nv - 1; k >= 0; k--) {
    int most = 0;
    for (int l = 0; l < B::width; l++) {
      int n = -row[l];
      for (int q = at[l]; q < d.leaf_end(k, l); q++) n += d.con_nrow(d.con_order(q, l), l);
      most = max_int(most, n);
    }
    if (most <= 0) continue;

    for (int s = nslot; s < nslot + most; s++)
      for (int l = 0; l < B::width; l++) d.slot_src(s, l) = -1;
    for (int l = 0; l < B::width; l++) {
      const int total = d.leaf_end(0, l);
      for (int s = nslot; s < nslot + most && at[l] < total;) {
        const int c = d.con_order(at[l], l), n = d.con_nrow(c, l);
        if (!on_chain(d, k, max_int(d.con_leaf1(c, l), d.con_leaf2(c, l)))) break;
        for (; s < nslot + most && row[l] < n; s++) d.slot_src(s, l) = kContactRows * c + row[l]++;
        if (row[l] == n) at[l]++, row[l] = 0;
      }
    }
    for (int s = nslot; s < nslot + most; s += run_length<B>) d.run_slot[nrun] = s, d.run_leaf[nrun++] = nleaf;
    d.leaf_list[nleaf] = k, d.leaf_slot[nleaf] = nslot, d.leaf_J[nleaf++] = adr;
    adr += most * (d.elim_depth[k] + 1);
    nslot += most;
  }
  d.run_slot[nrun] = d.leaf_slot[nleaf] = nslot;
  d.solver_n[kSlotCount] = nslot, d.solver_n[kLeafCount] = nleaf, d.solver_n[kRunCount] = nrun;
}

// ---- contents of the slots
// the lanes' rows into J slot s
template <class B>
BS_FN void fill_slot(const StateView<B>& d, int s) {
  using Scalar = typename B::Scalar;
  for (int i = 0; i < 9; i++) d.slot_row[9 * s + i] = 0;
  d.slot_leaf1[s] = -1, d.slot_leaf2[s] = -1;
  d.row_D[s] = 0, d.row_aref[s] = 0, d.row_work[s] = 0;
  for (int l = 0; l < B::width; l++) {
    const int src = d.slot_src(s, l);
    if (src < 0) continue;
    const int c = src / kContactRows, leaf1 = d.con_leaf1(c, l), leaf2 = d.con_leaf2(c, l);
    for (int i = 0; i < 6; i++) poke<B>(d.slot_row, 9 * s + i, l, peek<B>(d.con_row, 10 * src + i, l));
    poke<B>(d.row_aref, s, l, peek<B>(d.con_row, 10 * src + 9, l));
    poke<B>(d.row_D, s, l, peek<B>(d.con_D, c, l));
    poke<B>(d.row_work, s, l, Scalar(d.con_work(c, l)));
    poke<B>(d.slot_leaf2, s, l, Scalar(leaf2));
    if (leaf1 < 0) continue;
    for (int i = 6; i < 9; i++) poke<B>(d.slot_row, 9 * s + i, l, peek<B>(d.con_row, 10 * src + i, l));
    poke<B>(d.slot_leaf1, s, l, Scalar(leaf1));
  }
}

// J of N slots from s on, whose J starts at adr; J(row, k) = f . cdof(k) where k moves the second body only, -f . cdof(k) where it
// moves the first only
template <int N, class B>
BS_FN void fill_jacobian(Team<B> t, const ModelView<B>& m, const StateView<B>& d, int s, int leaf, int adr) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  const int n = d.elim_depth[leaf] + 1;
  bool two[N];  // in some lane both bodies move, or the first one only
  for (int q = 0; q < N; q++) two[q] = any(Real(d.slot_leaf1[s + q]) >= Real(0));
  for (int a : t.range(0, n)) {
    const int k = d.elim_colind[d.elim_rowadr[leaf] + a];
    const Spatial<Real> S = load6<Real>(d.cdof, 6 * k);
    const Real first = k, last = k + m.dof_subtreenum[k];
    for (int q = 0; q < N; q++) {
      const int f = 9 * (s + q);
      const Real lin = fma(Real(d.slot_row[f]), S.lin.x, fma(Real(d.slot_row[f + 1]), S.lin.y, Real(d.slot_row[f + 2]) * S.lin.z));
      const auto along = [&](int i) {
        return fma(Real(d.slot_row[i]), S.rot.x, fma(Real(d.slot_row[i + 1]), S.rot.y, fma(Real(d.slot_row[i + 2]), S.rot.z, lin)));
      };
      const Real leaf2 = d.slot_leaf2[s + q];
      const Mask moves2 = (leaf2 >= first) & (leaf2 <= last);
      Real J = select(moves2, along(f + 3), Real(0));
      if (two[q]) {
        const Real leaf1 = d.slot_leaf1[s + q];
        const Mask moves1 = (leaf1 >= first) & (leaf1 <= last);
        J = select(moves1, select(moves2, Real(0), -along(f + 6)), J);
      }
      d.J[adr + q * n + a] = J;
    }
  }
}

// everything that the solver needs in place
template <class B>
BS_FN void solver_layout(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;
  const int nfric = friction_sources(m), nlimit = limit_sources(m), ncon = contact_sources(m, d);
  if (auto lead = t.leader()) {
    elimination_tree(m, d, ncon);
    assign_slots(m, d, ncon);
    int nlim = 0;
    for (int e = 0; e < nlimit; e++)
      if (any(Real(d.lim_D[e]) > Real(0))) d.lim_list[nlim++] = e;
    d.solver_n[kLimitCount] = nlim, d.solver_n[kFrictionCount] = nfric;
  }
  t.sync();

  const int nslot = d.solver_n[kSlotCount], nlim = d.solver_n[kLimitCount], nrun = d.solver_n[kRunCount];
  for (int s : t.range(0, nslot)) fill_slot(d, s);
  for (int q : t.range(0, nlim)) {
    const int e = d.lim_list[q], s = nslot + q;
    d.row_D[s] = Real(d.lim_D[e]), d.row_aref[s] = Real(d.lim_aref[e]);
    d.row_work[s] = update_work(m.dof_depth[m.jnt_dofadr[m.limit_jntid[e / 2]]] + 1);
  }
  for (int q : t.range(0, nfric)) {
    const int s = nslot + nlim + q;
    d.row_D[s] = Real(d.fric_D[q]), d.row_aref[s] = Real(d.fric_aref[q]);
    d.row_work[s] = update_work(m.dof_depth[m.fric_dofid[q]] + 1);
  }
  t.sync();
  for (int e = 0; e < nrun; e++) {
    const int g = d.run_leaf[e], leaf = d.leaf_list[g], s = d.run_slot[e],
              adr = d.leaf_J[g] + (s - d.leaf_slot[g]) * (d.elim_depth[leaf] + 1);
    with_constant<run_length<B>>(d.run_slot[e + 1] - s, [&](auto N) { fill_jacobian<decltype(N)::value>(t, m, d, s, leaf, adr); });
  }
  t.sync();
}

}  // namespace BS_ISA
}  // namespace batchsim
