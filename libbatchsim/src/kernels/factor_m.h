// Factor and solve on the DoF tree: M = L' D L, L with M's pattern.
//
//   in     M (any matrix with the tree's pattern, in panels)
//   out    qLD   panels of U = D L below, 1 / D on the diagonal
//   warns  INERTIA where some D is below the least pivot: it is clamped, as MuJoCo 4.0 does
//   cost   sum over DoFs of depth^2 / 2 multiply-adds; two or three barriers a height of the segment tree
//   source engine_core_smooth.c mj_factorI, mj_solveLD; Featherstone, sec. 6.5; docs/factorisation.md
#pragma once

#include "kernels/factor_team.h"
#include "kernels/status.h"

namespace batchsim {
inline namespace BS_ISA {

// a member that works blocks of columns works alone: it goes through the tree a segment at a time, a limb at a stretch, which keeps
// the limb's rows in its cache; a team goes a height at a time
template <class B>
inline constexpr bool works_alone = B::block > 1;

// the model's own tree, with M's panels
template <class B>
struct ModelTree {
  using Row = typename B::RealRow;
  using Real = typename B::Real;
  static constexpr int stride = kQuad;  // from one entry of a row to the next
  static constexpr bool in_panels = true;

  const ModelView<B>& m;
  const Segment* segments;  // a copy near the team, if it has one

  BS_FN explicit ModelTree(const ModelView<B>& m) : m(m), segments(reinterpret_cast<const Segment*>(m.segment)) {}
  BS_FN ModelTree(const ModelView<B>& m, const Segment* segments) : m(m), segments(segments) {}

  BS_FN int count() const { return m.nseg; }
  BS_FN Segment segment(int s) const { return segments[s]; }
  BS_FN int size(int s) const { return segments[s].size(); }
  BS_FN int depth(int s) const { return segments[s].depth(); }
  BS_FN int below(int s) const { return segments[s].below(); }
  BS_FN int descendant(int s, int e) const { return s + 1 + e; }
  BS_FN int dof(int s) const { return m.seg_dof[s]; }
  BS_FN int row(int s, int t) const { return kQuad * (segments[s].column + 1) + t; }
  BS_FN int column_dof(int s, int a) const { return m.M_colind[segments[s].column + 1 + a]; }

  // ---- for a team
  using Task = GatherTask;
  BS_FN int ndof() const { return m.nv; }
  BS_FN int dof_rhs(int k) const { return m.dof_rhs[k]; }
  BS_FN int columns() const { return m.ncol; }
  BS_FN bool is_padding(int c) const { return m.M_colind[c] < 0; }  // or a right-hand side: U has nothing there
  BS_FN int nheight() const { return m.nheight; }
  BS_FN Height height(int h) const { return reinterpret_cast<const Height*>(m.height)[h]; }
  BS_FN int height_start(int h) const { return m.height_segadr[h]; }
  BS_FN int by_height(int q) const { return m.seg_order[q]; }
  BS_FN int nlevel() const { return m.nseglevel; }
  BS_FN int level_end(int level) const { return m.level_stepadr[level + 1]; }
  BS_FN BackStep back_step(int q) const { return reinterpret_cast<const BackStep*>(m.back_step)[q]; }
  BS_FN GatherTask task(int q) const { return reinterpret_cast<const GatherTask*>(m.task)[q]; }
  BS_FN ColumnPlace place(int q) const { return reinterpret_cast<const ColumnPlace*>(m.column)[q]; }
  // columns of all panels, one after another
  BS_FN int panel(const Task& task, int e) const { return segments[task.first() + e].column; }
  BS_FN int column(const ColumnPlace& p, int dx) const { return p.column + dx; }
  BS_FN int own(const Segment& g, int x) const { return g.triangle + x; }
  BS_FN int own(const Task& task, int j) const { return task.target + j; }
  BS_FN Quad<Real> load(Row row, int panel, int j) const { return load_quad<B>(row + kQuad * j, panel); }
  BS_FN Quad<Real> load(Row row, int c) const { return load_quad<B>(row, c); }
  BS_FN void store(Row row, int c, Quad<Real> q) const { store_quad<B>(row, c, q); }
};

// a team's scratch from one row (Sizes::nfactor)
template <class B>
BS_FN TeamScratch<B> team_scratch(const ModelView<B>& m, typename B::RealRow row) {
  return {row, row + kQuad * (m.ncol + 1), m.nseg};
}

// the factor of A, a matrix with the tree's pattern, into U. Returns the lanes with a pivot that was too small
template <class B>
BS_FN typename B::Mask factor_tree(Team<B> t, const ModelView<B>& m, const StateView<B>& d, typename B::RealRow A,
                                   typename B::RealRow U) {
  const ModelTree<B> tree(m);
  if constexpr (works_alone<B>)
    return factor_alone<B>(tree, A, U, d.factor_work, B::from_bits(~0u));
  else
    return factor_team<false>(t, tree, A, U, team_scratch(m, d.factor_work), U, U);
}

// x = (L' D L)^-1 x. A team reads x after a barrier of its own
template <class B>
BS_FN void solve_tree(Team<B> t, const ModelView<B>& m, const StateView<B>& d, typename B::RealRow U, typename B::RealRow x) {
  const ModelTree<B> tree(m);
  if constexpr (works_alone<B>)
    solve_alone<B>(tree, U, x);
  else
    solve_team(t, tree, U, team_scratch(m, d.factor_work), x);
}

template <class B>
BS_FN void factor_m(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  raise(t, d, kBadInertia, factor_tree(t, m, d, d.M, d.qLD));
}

}  // namespace BS_ISA
}  // namespace batchsim
