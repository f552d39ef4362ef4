// Factor and solve on a tree of segments, for a team: a height of the tree at a time, leaves first.
//
// The panel in work holds S = D^-1/2 U, so that A = S' S and what a segment subtracts needs no D:
//
//   S(i, j) sqrt(D(i)) = A(i, j) - sum over descendants k of i:  S(k, i) S(k, j)
//
// Each height takes two or three phases:
//   gather     a task is a column of a segment and some of its descendants: 16 multiply-adds a descendant on five quads
//   combine    where a sum was split, its parts are added in order
//   eliminate  a member a column: the segment's own four rows, by the 4 x 4 triangle that all of them read and factor alike
//
// A right-hand side is one more column of each segment: when the factor is done, so is D^-1/2 L'^-1 of it. What is left goes from the
// roots, a level of the segment tree at a time: a segment has one ancestor in each level, whose part it subtracts.
//
// `Tree` is a ModelTree (factor_m.h) or the solver's elimination tree (solver_hessian.h).
#pragma once

#include "kernels/factor_alone.h"
#include "math/functions.h"

namespace batchsim {
inline namespace BS_ISA {

// The 4 x 4 triangle of a segment's own columns, and how a column is eliminated by it
template <class R>
struct Triangle {
  R l[kQuad][kQuad];  // -S(t, x), x < t; the pivots D(t) at (t, t)
  R s[kQuad];         // D^-1/2

  // u becomes U's column, and S's is returned
  BS_FN Quad<R> eliminate(Quad<R>& u) const {
    Quad<R> v;
    for (int t = kQuad - 1; t >= 0; t--) {
      for (int k = kQuad - 1; k > t; k--) u.v[t] = fma(l[k][t], v.v[k], u.v[t]);
      v.v[t] = u.v[t] * s[t];
    }
    return v;
  }
};

// from the four columns as the descendants left them
template <class B>
BS_FN Triangle<typename B::Real> factor_triangle(const Quad<typename B::Real> (&c)[kQuad], Quad<typename B::Real> least) {
  using Real = typename B::Real;
  Triangle<Real> a;
  Real S[kQuad][kQuad];
  for (int t = kQuad - 1; t >= 0; t--) {
    for (int x = 0; x <= t; x++) {
      S[t][x] = c[x].v[t];
      for (int k = kQuad - 1; k > t; k--) S[t][x] = fma(a.l[k][t], S[k][x], S[t][x]);
    }
    a.l[t][t] = S[t][t];
    a.s[t] = rsqrt(at_least(S[t][t], least.v[t]));
    for (int x = 0; x < t; x++) {
      S[t][x] = S[t][x] * a.s[t];
      a.l[t][x] = -S[t][x];
    }
  }
  return a;
}

// rows from `size` on belong to nobody
template <class R>
BS_FN Quad<R> keep_rows(Quad<R> q, int size) {
  for (int t = 1; t < kQuad; t++) q.v[t] = select(t < size, q.v[t], R(0));
  return q;
}

// where a team works: the panels S, and in quads the least pivots of each segment, then partial sums
template <class B>
struct TeamScratch {
  typename B::RealRow S, rest;
  int nseg;
  BS_FN int least(int s) const { return s; }
  BS_FN int part(int p) const { return nseg + p; }
};

// a task's N columns: what its descendants subtract goes to the partial sums, or if there is only one is subtracted
template <int N, class B, class Tree>
BS_FN void gather_columns(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, const typename Tree::Task& task) {
  using Real = typename B::Real;
  Quad<Real> sum[N];
  for (int i = 0; i < N; i++) sum[i] = {{0, 0, 0, 0}};
  BS_NO_UNROLL
  for (int e = 0; e < task.count(); e++) {
    const auto below = tree.panel(task, e);
    Quad<Real> u[N];
    for (int i = 0; i < N; i++) u[i] = tree.load(w.S, below, task.column() + i * task.second());
    for (int t = 0; t < kQuad; t++) {
      const Quad<Real> p = tree.load(w.S, below, task.triangle() + t);
      for (int i = 0; i < N; i++) sum[i].v[t] = add_dot(sum[i].v[t], p, u[i]);
    }
  }
  for (int i = 0; i < N; i++) {
    if (i > 0 && task.second() == 0) break;
    if (task.nchunk() > 1) {
      store_quad<B>(w.rest, w.part(task.target + i * task.second() * task.nchunk()), sum[i]);
    } else {
      const auto own = tree.own(task, i * task.second());
      tree.store(w.S, own, keep_rows(tree.load(A, own) - sum[i], task.size()));
    }
  }
}

template <class B, class Tree>
BS_FN void gather_task(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, const typename Tree::Task& task) {
  if (task.paired())
    gather_columns<2>(tree, A, w, task);
  else
    gather_columns<1>(tree, A, w, task);
}

// column c of segment g minus the parts of its sum, if it is split
template <class B, class Tree>
BS_FN void combine_column(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, const Segment& g, int c) {
  using Real = typename B::Real;
  const int n = g.nchunk(), part = w.part(g.part() + (c - g.column) * n);
  if (n == 1) return;
  Quad<Real> sum = load_quad<B>(w.rest, part);
  BS_NO_UNROLL
  for (int i = 1; i < n; i++) sum = sum + load_quad<B>(w.rest, part + i);
  tree.store(w.S, c, keep_rows(tree.load(A, c) - sum, g.size()));
}

// of the rows of segment s, from the diagonal of A
template <class B, class Tree>
BS_FN void keep_least_pivots(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, int s) {
  const auto g = tree.segment(s);
  Quad<typename B::Real> least;
  for (int r = 0; r < kQuad; r++) least.v[r] = least_pivot<B>(tree.load(A, tree.own(g, r)).v[r]);
  store_quad<B>(w.rest, w.least(s), least);
}

// in double they are the same for all
template <class B>
BS_FN Quad<typename B::Real> least_pivots(TeamScratch<B> w, int s) {
  const typename B::Real e = least_pivot<B>(0);
  if constexpr (sizeof(e) == 4)
    return load_quad<B>(w.rest, w.least(s));
  else
    return {{e, e, e, e}};
}

// of the segment that `own(x)` are the columns of
template <class B, class Tree, class Own>
BS_FN Triangle<typename B::Real> triangle_of(const Tree& tree, TeamScratch<B> w, int s, Own own) {
  Quad<typename B::Real> c[kQuad];
  for (int x = 0; x < kQuad; x++) c[x] = tree.load(w.S, own(x));
  return factor_triangle<B>(c, least_pivots(w, s));
}

// a column by its segment's own rows, into S and U. The columns of the triangle are read by others: they stay as they are
template <class B, class Tree>
BS_FN void eliminate_column(const Tree& tree, typename B::RealRow U, TeamScratch<B> w, int q) {
  using Real = typename B::Real;
  const auto place = tree.place(q);
  const int x = place.x();
  const Triangle<Real> a = triangle_of(tree, w, place.segment(), [&](int y) { return tree.column(place, y - x); });
  const auto column = tree.column(place, 0);
  Quad<Real> u = tree.load(w.S, column);
  const Quad<Real> v = a.eliminate(u);
  if (x < 0) tree.store(w.S, column, v);
  for (int t = 0; t < kQuad; t++) u.v[t] = select(x == t, a.s[t] * a.s[t], u.v[t]);
  if (!place.rhs()) tree.store(U, column, u);
}

// the triangle of segment s in its place, D^-1/2 on the diagonal; returns whether a pivot was too small
template <class B, class Tree>
BS_FN bool finish_triangle(const Tree& tree, TeamScratch<B> w, int s) {
  using Real = typename B::Real;
  const auto g = tree.segment(s);
  const Triangle<Real> a = triangle_of(tree, w, s, [&](int x) { return tree.own(g, x); });
  const Quad<Real> least = least_pivots(w, s);
  bool small = false;
  for (int x = 0; x < kQuad; x++) {
    small |= x < g.size() && a.l[x][x] < least.v[x];
    Quad<Real> c{{0, 0, 0, 0}};
    c.v[x] = a.s[x];
    for (int t = x + 1; t < kQuad; t++) c.v[t] = -a.l[t][x];
    tree.store(w.S, tree.own(g, x), c);
  }
  return small;
}

// From the roots: the right-hand sides become minus the solutions, in place. P: panels of S or U, with D^-1/2 or 1 / D on the diagonal
// of triangles
template <class B, class Tree>
BS_FN void substitute_back(Team<B> t, const Tree& tree, typename B::RealRow P) {
  using Real = typename B::Real;
  int end = 0;
  for (int level = 0; level < tree.nlevel(); level++) {
    const int begin = end;
    end = tree.level_end(level);
    for (int q : t.range(begin, end)) {
      const BackStep step = tree.back_step(q);
      Quad<Real> x = load_quad<B>(P, step.rhs);
      // a segment has one ancestor in each level
      if (level > 0) {
        const Quad<Real> y = load_quad<B>(P, step.ancestor_rhs);
        for (int j = 0; j < kQuad; j++) {
          const Quad<Real> p = load_quad<B>(P, step.factor + j);
          for (int r = 0; r < kQuad; r++) x.v[r] = fma(p.v[r], y.v[j], x.v[r]);
        }
      }
      if (step.triangle >= 0) {
        for (int j = 0; j < kQuad; j++) {
          const Quad<Real> c = load_quad<B>(P, step.triangle + j);
          x.v[j] = -(x.v[j] * c.v[j]);
          for (int r = j + 1; r < kQuad; r++) x.v[r] = fma(c.v[r], x.v[j], x.v[r]);
        }
      }
      store_quad<B>(P, step.rhs, x);
    }
    t.sync();
  }
}

// the factor of A into U; with Solve, x = A^-1 b too. Returns whether a pivot was too small
template <bool Solve, class B, class Tree>
BS_FN bool factor_team(Team<B> t, const Tree& tree, typename B::RealRow A, typename B::RealRow U, TeamScratch<B> w,
                       typename B::RealRow b, typename B::RealRow x) {
  using Real = typename B::Real;
  if constexpr (Tree::in_panels) {
    for (int c : t.range(0, tree.columns())) store_quad<B>(w.S, c, load_quad<B>(A, c));
    t.sync();
    A = w.S;
  }
  if constexpr (Solve) {
    BS_NO_UNROLL
    for (int k : t.range(0, tree.ndof())) w.S[tree.dof_rhs(k)] = Real(b[k]);
  }
  if constexpr (sizeof(Real) == 4) {
    for (int s : t.range(0, tree.count())) keep_least_pivots(tree, A, w, s);
  }
  if constexpr (Solve || sizeof(Real) == 4) t.sync();

  Height next = tree.height(0);
  for (int h = 0; h < tree.nheight(); h++) {
    const Height at = next;
    next = tree.height(h + 1);
    const int last = Solve ? next.task : at.rhs_task;
    if (at.task < last) {
      for (int q : t.range(at.task, last)) gather_task(tree, A, w, tree.task(q));
      t.sync();
    }
    if constexpr (Tree::in_panels) {
      if (at.split) {
        for (int q : t.range(at.column, next.column)) {
          const auto place = tree.place(q);
          if (Solve || !place.rhs()) combine_column(tree, A, w, tree.segment(place.segment()), place.column);
        }
        t.sync();
      }
    }
    for (int q : t.range(at.column, next.column)) eliminate_column(tree, U, w, q);
    t.sync();
  }

  const bool small = t.any(0, tree.count(), [&](int s) { return finish_triangle(tree, w, s); });
  if constexpr (Solve) {
    substitute_back(t, tree, w.S);
    BS_NO_UNROLL
    for (int k : t.range(0, tree.ndof())) x[k] = -Real(w.S[tree.dof_rhs(k)]);
  }
  return small;
}

// x = A^-1 x from the factor. y = 1 / D L'^-1 x goes up the tree as the right-hand side of S = U; D y waits where least pivots are.
// x is first read after a barrier
template <class B, class Tree>
BS_FN void solve_team(Team<B> t, const Tree& tree, typename B::RealRow U, TeamScratch<B> w, typename B::RealRow x) {
  using Real = typename B::Real;
  for (int c : t.range(0, tree.columns()))
    store_quad<B>(w.S, c, tree.is_padding(c) ? Quad<Real>{{0, 0, 0, 0}} : load_quad<B>(U, c));
  t.sync();
  BS_NO_UNROLL
  for (int k : t.range(0, tree.ndof())) w.S[tree.dof_rhs(k)] = Real(x[k]);
  t.sync();
  for (int h = 0; h < tree.nheight(); h++) {
    const int begin = tree.height(h).rhs_task, end = tree.height(h + 1).task;
    if (begin < end) {
      for (int q : t.range(begin, end)) gather_task(tree, w.S, w, tree.task(q));
      t.sync();
    }
    for (int q : t.range(tree.height_start(h), tree.height_start(h + 1))) {
      const int s = tree.by_height(q);
      const auto g = tree.segment(s);
      combine_column(tree, w.S, w, g, g.column);
      Quad<Real> z = load_quad<B>(w.S, g.column), y;
      for (int j = kQuad - 1; j >= 0; j--) {
        const Quad<Real> c = load_quad<B>(w.S, g.triangle + j);
        for (int k = kQuad - 1; k > j; k--) z.v[j] = fma(-c.v[k], y.v[k], z.v[j]);
        y.v[j] = z.v[j] * c.v[j];
      }
      store_quad<B>(w.S, g.column, y);
      store_quad<B>(w.rest, w.least(s), z);
    }
    t.sync();
  }
  for (int s : t.range(0, tree.count())) store_quad<B>(w.S, tree.segment(s).column, load_quad<B>(w.rest, w.least(s)));
  t.sync();
  substitute_back(t, tree, w.S);
  BS_NO_UNROLL
  for (int k : t.range(0, tree.ndof())) x[k] = -Real(w.S[tree.dof_rhs(k)]);
}

}  // namespace BS_ISA
}  // namespace batchsim
