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
  Quad<R> c[kQuad];  // column x: S(t, x), t > x
  R s[kQuad];        // D^-1/2

  // u becomes U's column, and S's is returned
  BS_FN Quad<R> eliminate(Quad<R>& u) const {
    Quad<R> v;
    v.v[3] = u.v[3] * s[3];
    u.v[2] = u.v[2] - c[2].v[3] * v.v[3];
    v.v[2] = u.v[2] * s[2];
    u.v[1] = u.v[1] - fma(c[1].v[2], v.v[2], c[1].v[3] * v.v[3]);
    v.v[1] = u.v[1] * s[1];
    u.v[0] = u.v[0] - fma(c[0].v[1], v.v[1], fma(c[0].v[2], v.v[2], c[0].v[3] * v.v[3]));
    v.v[0] = u.v[0] * s[0];
    return v;
  }
};

// from the four columns as the descendants left them
template <class B>
BS_FN Triangle<typename B::Real> factor_triangle(const Quad<typename B::Real> (&c)[kQuad], Quad<typename B::Real> least) {
  using Real = typename B::Real;
  Triangle<Real> a;
  for (int t = kQuad - 1; t >= 0; t--) {
    for (int x = 0; x <= t; x++) {
      Real y = c[x].v[t];
      if (t < kQuad - 1) {
        Real sum = a.c[t].v[kQuad - 1] * a.c[x].v[kQuad - 1];
        for (int k = kQuad - 2; k > t; k--) sum = fma(a.c[t].v[k], a.c[x].v[k], sum);
        y = y - sum;
      }
      a.c[x].v[t] = y;
    }
    a.s[t] = rsqrt(max(a.c[t].v[t], least.v[t]));
    for (int x = 0; x < t; x++) a.c[x].v[t] = a.c[x].v[t] * a.s[t];
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

// N columns of segment s minus what chunk c of its descendants subtracts
template <int N, class B, class Tree, class Segment>
BS_FN void gather_columns(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, const Segment& g, int s, int c,
                          const int (&j)[N]) {
  using Real = typename B::Real;
  Quad<Real> sum[N];
  for (int i = 0; i < N; i++) sum[i] = {{0, 0, 0, 0}};
  const int n = g.nchunk(), end = min_int((c + 1) * g.chunk(), g.below());
  for (int e = c * g.chunk(); e < end; e++) {
    const auto below = tree.segment(tree.descendant(s, e));
    Quad<Real> u[N];
    for (int i = 0; i < N; i++) u[i] = tree.load(w.S, below, j[i]);
    for (int t = 0; t < kQuad; t++) {
      const Quad<Real> p = tree.load(w.S, below, g.depth() + 1 + t);
      for (int i = 0; i < N; i++) sum[i].v[t] = add_dot(sum[i].v[t], p, u[i]);
    }
  }
  for (int i = 0; i < N; i++) {
    if (i > 0 && j[i] == j[0]) continue;
    if (n > 1)
      store_quad<B>(w.rest, w.part(g.part + j[i] * n + c), sum[i]);
    else
      tree.store(w.S, g, j[i], keep_rows(tree.load(A, g, j[i]) - sum[i], g.size()));
  }
}

template <class B, class Tree>
BS_FN void gather_task(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, int s, int j, int c) {
  const auto g = tree.segment(s);
  if (g.paired()) {
    const int second = tree.second(g, j), last = g.depth() + kQuad;
    gather_columns<2>(tree, A, w, g, s, c, {j, j > 0 && second <= last ? second : j});
  } else {
    gather_columns<1>(tree, A, w, g, s, c, {j});
  }
}

// column j of segment s minus the parts of its sum
template <class B, class Tree>
BS_FN void combine_column(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, int s, int j) {
  using Real = typename B::Real;
  const auto g = tree.segment(s);
  const int n = g.nchunk(), part = w.part(g.part + j * n);
  if (n == 1) return;
  Quad<Real> sum = load_quad<B>(w.rest, part);
  for (int c = 1; c < n; c++) sum = sum + load_quad<B>(w.rest, part + c);
  tree.store(w.S, g, j, keep_rows(tree.load(A, g, j) - sum, g.size()));
}

// of the rows of segment s, from the diagonal of A
template <class B, class Tree>
BS_FN void keep_least_pivots(const Tree& tree, typename B::RealRow A, TeamScratch<B> w, int s) {
  const auto g = tree.segment(s);
  Quad<typename B::Real> least;
  for (int r = 0; r < kQuad; r++) least.v[r] = least_pivot<B>(tree.load(A, g, g.depth() + 1 + r).v[r]);
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

template <class B, class Tree, class Segment>
BS_FN Triangle<typename B::Real> triangle_of(const Tree& tree, TeamScratch<B> w, const Segment& g, int s) {
  Quad<typename B::Real> c[kQuad];
  for (int t = 0; t < kQuad; t++) c[t] = tree.load(w.S, g, g.depth() + 1 + t);
  return factor_triangle<B>(c, least_pivots(w, s));
}

// column j of segment s by the segment's own rows, into S and U. The columns of the triangle are read by others: they stay as they are
template <class B, class Tree>
BS_FN void eliminate_column(const Tree& tree, typename B::RealRow U, TeamScratch<B> w, int s, int j) {
  using Real = typename B::Real;
  const auto g = tree.segment(s);
  const int x = j - 1 - g.depth();
  const Triangle<Real> a = triangle_of(tree, w, g, s);
  Quad<Real> u = tree.load(w.S, g, j);
  const Quad<Real> v = a.eliminate(u);
  if (x < 0) tree.store(w.S, g, j, v);
  for (int t = 0; t < kQuad; t++) u.v[t] = select(x == t, a.s[t] * a.s[t], u.v[t]);
  if (j > 0) tree.store(U, g, j, u);
}

// the triangle of segment s in its place, D^-1/2 on the diagonal; returns whether a pivot was too small
template <class B, class Tree>
BS_FN bool finish_triangle(const Tree& tree, TeamScratch<B> w, int s) {
  using Real = typename B::Real;
  const auto g = tree.segment(s);
  Triangle<Real> a = triangle_of(tree, w, g, s);
  const Quad<Real> least = least_pivots(w, s);
  bool small = false;
  for (int t = 0; t < kQuad; t++) {
    small |= t < g.size() && a.c[t].v[t] < least.v[t];
    a.c[t].v[t] = a.s[t];
    tree.store(w.S, g, g.depth() + 1 + t, a.c[t]);
  }
  return small;
}

// the right-hand side of segment s
template <class B, class Tree>
BS_FN void place_rhs(const Tree& tree, TeamScratch<B> w, int s, typename B::RealRow b) {
  using Real = typename B::Real;
  const auto g = tree.segment(s);
  Quad<Real> q;
  for (int t = 0; t < kQuad; t++) q.v[t] = t < g.size() ? Real(b[tree.dof(s) + t]) : Real(0);
  tree.store(w.S, g, 0, q);
}

// From the roots: quads z become solutions, in place; z(s) is where in row Z that of segment s is. P: panels of S or U, with D^-1/2 or
// 1 / D on the diagonal of triangles
template <class B, class Tree, class At>
BS_FN void substitute_back(Team<B> t, const Tree& tree, typename B::RealRow P, typename B::RealRow Z, At z) {
  using Real = typename B::Real;
  for (int level = 0; level < tree.nlevel(); level++) {
    const int next = tree.level_start(level + 1);
    for (int q : t.range(tree.level_start(level), level ? tree.count() : next)) {
      const int s = tree.by_level(q);
      const auto g = tree.segment(s);
      Quad<Real> x = load_quad<B>(Z, z(s));
      // a segment has one ancestor in each level
      if (level > 0) {
        const int k = tree.ancestor(s, level - 1), d = tree.segment(k).depth() + 1;
        const Quad<Real> y = load_quad<B>(Z, z(k));
        Quad<Real> sum{{0, 0, 0, 0}};
        for (int j = 0; j < kQuad; j++) {
          const Quad<Real> p = tree.load(P, g, d + j);
          for (int r = 0; r < kQuad; r++) sum.v[r] = fma(p.v[r], y.v[j], sum.v[r]);
        }
        x = x - sum;
      }
      if (q < next) {
        for (int j = 0; j < kQuad; j++) {
          const Quad<Real> c = tree.load(P, g, g.depth() + 1 + j);
          x.v[j] = x.v[j] * c.v[j];
          for (int r = j + 1; r < kQuad; r++) x.v[r] = x.v[r] - c.v[r] * x.v[j];
        }
      }
      store_quad<B>(Z, z(s), x);
    }
    t.sync();
  }
}

// the factor of A into U; with Solve, x = A^-1 b too. Returns whether a pivot was too small
template <bool Solve, class B, class Tree>
BS_FN bool factor_team(Team<B> t, const Tree& tree, typename B::RealRow A, typename B::RealRow U, TeamScratch<B> w,
                       typename B::RealRow b, typename B::RealRow x) {
  using Real = typename B::Real;
  if constexpr (Tree::preload) {
    for (int c : t.range(0, tree.columns())) store_quad<B>(w.S, c, load_quad<B>(A, c));
    t.sync();
    A = w.S;
  }
  if constexpr (Solve || sizeof(Real) == 4) {
    for (int s : t.range(0, tree.count())) {
      if constexpr (sizeof(Real) == 4) keep_least_pivots(tree, A, w, s);
      if constexpr (Solve) place_rhs(tree, w, s, b);
    }
    t.sync();
  }

  for (int h = 0; h < tree.nheight(); h++) {
    if (tree.task_start(h) < tree.task_end(h, Solve)) {
      for (int q : t.range(tree.task_start(h), tree.task_end(h, Solve))) {
        const auto task = tree.task(q);
        gather_task(tree, A, w, task.segment, task.column, task.chunk);
      }
      t.sync();
    }
    if (tree.is_split(h)) {
      for (int q : t.range(tree.column_start(h), tree.column_end(h, Solve))) {
        const auto at = tree.column(q);
        combine_column(tree, A, w, at.segment, at.column);
      }
      t.sync();
    }
    for (int q : t.range(tree.column_start(h), tree.column_end(h, Solve))) {
      const auto at = tree.column(q);
      eliminate_column(tree, U, w, at.segment, at.column);
    }
    t.sync();
  }

  const bool small = t.any(0, tree.count(), [&](int s) { return finish_triangle(tree, w, s); });
  if constexpr (Solve) {
    substitute_back(t, tree, w.S, w.S, [&](int s) { return tree.segment(s).column; });
    for (int k : t.range(0, tree.ndof())) {
      const int s = tree.dof_seg(k);
      x[k] = Real(w.S[kQuad * tree.segment(s).column + k - tree.dof(s)]);
    }
  }
  return small;
}

// x = A^-1 x from the factor. y = 1 / D L'^-1 x goes up the tree as the right-hand side of S = U; D y stays behind where least pivots are
template <class B, class Tree>
BS_FN void solve_team(Team<B> t, const Tree& tree, typename B::RealRow U, TeamScratch<B> w, typename B::RealRow x) {
  using Real = typename B::Real;
  for (int q : t.range(0, tree.columns())) {
    const auto at = tree.column(q);
    const auto g = tree.segment(at.segment);
    if (at.column > 0) tree.store(w.S, g, at.column, tree.load(U, g, at.column));
  }
  for (int s : t.range(0, tree.count())) place_rhs(tree, w, s, x);
  t.sync();
  for (int h = 0; h < tree.nheight(); h++) {
    if (tree.task_end(h, false) < tree.task_end(h, true)) {
      for (int q : t.range(tree.task_end(h, false), tree.task_end(h, true))) {
        const auto task = tree.task(q);
        gather_task(tree, w.S, w, task.segment, 0, task.chunk);
      }
      t.sync();
    }
    for (int q : t.range(tree.column_end(h, false), tree.column_end(h, true))) {
      const int s = tree.column(q).segment;
      const auto g = tree.segment(s);
      combine_column(tree, w.S, w, s, 0);
      Quad<Real> z = tree.load(w.S, g, 0), y;
      for (int j = kQuad - 1; j >= 0; j--) {
        const Quad<Real> c = tree.load(w.S, g, g.depth() + 1 + j);
        for (int k = kQuad - 1; k > j; k--) z.v[j] = z.v[j] - c.v[k] * y.v[k];
        y.v[j] = z.v[j] * c.v[j];
      }
      tree.store(w.S, g, 0, y);
      store_quad<B>(w.rest, w.least(s), z);
    }
    t.sync();
  }
  substitute_back(t, tree, w.S, w.rest, [&](int s) { return w.least(s); });
  for (int k : t.range(0, tree.ndof())) {
    const int s = tree.dof_seg(k);
    x[k] = Real(w.rest[kQuad * w.least(s) + k - tree.dof(s)]);
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
