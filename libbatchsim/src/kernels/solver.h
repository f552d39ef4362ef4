// mj_fwdConstraint, mj_solNewton: the acceleration under constraints.
//
//   minimise  1/2 (a - a_smooth)' M (a - a_smooth) + s(J a - aref)
//
// s is the sum over rows of a piecewise quadratic: 1/2 D x^2 where x < 0, 0 beyond (contacts, limits); 1/2 D x^2 for |x| < R floss,
// linear beyond (friction loss). Newton's method with exact line search, on the layout of solver_layout.h.
//
// in   make_constraint's rows; M, cdof, qacc_smooth, qfrc_smooth, qacc_warmstart
// out  qacc, qfrc_constraint, solver_niter, row_x, row_f; status |= kIterationLimit
//
// Start: warm start or a_smooth, whichever costs less. The Hessian is built and factored once; then the rows of a world whose weight
// changed go into the factor by rank-one updates, or by a new factor, whichever is less work by the counts of that world alone. Lanes
// that are done are frozen. Line search: on the derivative only, a step of 1 first, Newton's steps kept in a bracket.
//
// A world is done when the step is below kDone (rad: h^2 max |alpha s|), or when it is below kExact and no row changes its zone
// between alpha 0 and 1, for then the step went to the minimum of the piece that it ends in. Zones tell the two linear sides of a
// friction row apart. MuJoCo's rule (improvement and gradient) drowns in cancellation in float.
//
// opt.iterations is MuJoCo's: at most so many. This rule takes up to one iteration more than MuJoCo's at its default tolerance (muscular
// standing: 6.0, in double 6.9, to 6.0), at most 10 on the bodies in models/; a world that is cut short says so.
//
// Cost of determinism, 8 float lanes: a lane keeps the order of its rows, which takes up to 24 % more J slots than putting rows where
// they fit best (muscular, standing 59 for 48, heap 166 for 134; simple 36 for 32, 86 for 77; counted once with a layout by best fit
// that is not kept): up to a fifth of the work on J. Its time was not measured apart, nor that of letting each lane, not the tile, choose
// between update and new factor.
//
// source engine_solver.c mj_solPrimal; MuJoCo's computation chapter, Constraint solver
#pragma once

#include "kernels/residual.h"
#include "kernels/solver_hessian.h"

namespace batchsim {
inline namespace BS_ISA {

template <class Scalar>
struct SolverLimits;
template <>
struct SolverLimits<float> {
  static constexpr float kDone = 1e-7f, kExact = 1e-3f, kSlope = 1e-3f;
  static constexpr int kEvaluations = 20;
};
template <>
struct SolverLimits<double> {
  static constexpr double kDone = 1e-12, kExact = 1e-6, kSlope = 1e-10;
  static constexpr int kEvaluations = 50;
};

// a lane updates its factor while that is less than this share of what a new one costs; muscular, us a world standing and in a heap:
// 25 and 26 at 0 (never), 20 and 20 at 0.3, 19 and 19 at 1.1
inline constexpr double kUpdateShare = 1;

// friction loss of the q-th friction slot
template <class B>
BS_FN typename B::Real friction_loss(const ModelView<B>& m, int q) {
  return m.dof_frictionloss[m.fric_dofid[q]];
}

// s(x)
template <class B>
BS_FN typename B::Real row_cost(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z,
                                typename B::RealRow x) {
  using Real = typename B::Real;
  Real cost[1] = {0};
  sums<1>(t, 0, z.one_sided(), cost, [&](int r, Real* c) {
    const Real y = min(Real(x[r]), Real(0));
    c[0] = fma(Real(0.5) * Real(d.row_D[r]) * y, y, c[0]);
  });
  sums<1>(t, 0, z.nfric, cost, [&](int q, Real* c) {
    const int r = z.one_sided() + q;
    const Real y = abs(Real(x[r])), zone = d.fric_zone[q];
    c[0] += select(y < zone, Real(0.5) * Real(d.row_D[r]) * y * y, friction_loss(m, q) * (y - Real(0.5) * zone));
  });
  return cost[0];
}

// qacc, Ma, row_x at the better start
template <class B>
BS_FN void solver_start(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z, typename B::Mask constrained) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  mul_J(t, m, d, z, d.qacc_warmstart, d.row_x);
  mul_J(t, m, d, z, d.qacc_smooth, d.row_v);
  mul_M(t, m, d, d.qacc_warmstart, d.Ma);
  t.sync();
  for (int r : t.range(0, z.all())) {
    const Real aref = d.row_aref[r];
    d.row_x[r] = Real(d.row_x[r]) - aref;
    d.row_v[r] = Real(d.row_v[r]) - aref;
  }
  Real gauss[1] = {0};
  sums<1>(t, 0, m.nv, gauss, [&](int i, Real* s) {
    s[0] = fma(Real(d.Ma[i]) - Real(d.qfrc_smooth[i]), Real(d.qacc_warmstart[i]) - Real(d.qacc_smooth[i]), s[0]);
  });
  const Real warm = row_cost(t, m, d, z, d.row_x) + Real(0.5) * gauss[0], smooth = row_cost(t, m, d, z, d.row_v);
  const Mask take = B::from_bits(m.disableflags & kDisableWarmstart ? 0u : ~0u) & constrained & (warm <= smooth);
  for (int i : t.range(0, m.nv)) {
    d.qacc[i] = select(take, Real(d.qacc_warmstart[i]), Real(d.qacc_smooth[i]));
    d.Ma[i] = select(take, Real(d.Ma[i]), Real(d.qfrc_smooth[i]));
  }
  for (int r : t.range(0, z.all())) d.row_x[r] = select(take, Real(d.row_x[r]), Real(d.row_v[r]));
  t.sync();
}

// row_w, row_f from row_x; row_dw: change of weight in the lanes of live; qfrc_constraint, grad; row_list: slots with weight
template <class B>
BS_FN void update_constraint(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z, bool first,
                             typename B::Mask live) {
  using Real = typename B::Real;
  const auto set = [&](int r, Real w, Real f) {
    d.row_dw[r] = first ? w : select(live, w - Real(d.row_w[r]), Real(0));
    d.row_w[r] = w;
    d.row_f[r] = f;
  };
  for (int r : t.range(0, z.one_sided())) {
    const Real x = d.row_x[r], w = select(x < Real(0), Real(d.row_D[r]), Real(0));
    set(r, w, -(w * x));
  }
  for (int q : t.range(0, z.nfric)) {
    const int r = z.one_sided() + q;
    const Real x = d.row_x[r], loss = friction_loss(m, q);
    const auto inner = abs(x) < Real(d.fric_zone[q]);
    const Real w = select(inner, Real(d.row_D[r]), Real(0));
    set(r, w, select(inner, -(w * x), select(x < Real(0), loss, -loss)));
  }
  for (int i : t.range(0, m.nv)) d.qfrc_constraint[i] = 0;
  active_slots(t, d, z, [&](int s) { return any(Real(d.row_w[s]) != Real(0)); });
  add_JT(t, d, z, d.row_f, d.qfrc_constraint);
  t.sync();
  add_diagonal(t, m, d, z, false, d.row_f, d.qfrc_constraint, [](int k) { return k; });
  for (int i : t.range(0, m.nv)) d.grad[i] = Real(d.Ma[i]) - Real(d.qfrc_smooth[i]) - Real(d.qfrc_constraint[i]);
}

// the factor at the first point
template <class B>
BS_FN void first_factor(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z) {
  using Real = typename B::Real;
  for (int r : t.range(0, z.all())) d.row_wH[r] = Real(d.row_w[r]);
  hessian_start(t, m, d);
  hessian_add(t, m, d, z, d.row_w);
  hessian_factor(t, m, d, B::from_bits(~0u));
}

// rank-one updates in the given lanes for the rows of row_list whose weight changed; up to four on one chain together
template <class B>
BS_FN void update_factor(const ModelView<B>& m, const StateView<B>& d, const RowCounts& z, int nchanged, typename B::Mask update) {
  using Real = typename B::Real;
  Real sigma[4];
  int row[4], own[4], n = 0, leaf = -1;
  const auto flush = [&] {
    for (int v = 0; v < n; v++) {
      const auto put = d.hz + v * m.nv;
      const int depth = d.elim_depth[own[v]];
      if (row[v] < z.nslot) {
        int g = 0;
        while (d.leaf_slot[g + 1] <= row[v]) g++;
        const int adr = d.leaf_J[g] + (row[v] - d.leaf_slot[g]) * (depth + 1);
        for (int a = 0; a <= depth; a++) put[a] = Real(d.J[adr + a]);
      } else {
        for (int a = 0; a < depth; a++) put[a] = 0;
        put[depth] = 1;
      }
      for (int a = depth + 1; a <= d.elim_depth[leaf]; a++) put[a] = 0;
    }
    if (n) with_constant<4>(n, [&](auto N) { rank_update<decltype(N)::value>(m, d, leaf, sigma); });
    n = 0, leaf = -1;
  };
  int slot_leaf = 0;
  for (int e = 0; e < nchanged; e++) {
    const int r = d.row_list[e];
    const Real change = select(update, Real(d.row_dw[r]), Real(0));
    if (!any(change != Real(0))) continue;
    int k;
    if (r < z.nslot) {
      while (d.leaf_slot[slot_leaf + 1] <= r) slot_leaf++;
      k = d.leaf_list[slot_leaf];
    } else {
      k = r < z.one_sided() ? limit_dof(m, d, r - z.limits()) : m.fric_dofid[r - z.one_sided()];
    }
    if (n == 4 || (n && !on_chain(d, leaf, k) && !on_chain(d, k, leaf))) flush();
    leaf = max_int(leaf, k);
    row[n] = r, own[n] = k, sigma[n++] = change;
  }
  flush();
}

// the factor after the weights changed by row_dw
template <class B>
BS_FN void next_factor(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  const int nchanged = t.filter(d.row_list, 0, z.all(), [&](int r) { return any(Real(d.row_dw[r]) != Real(0)); });
  if (!nchanged) return;
  Real work[1] = {0};
  sums<1>(t, 0, nchanged, work, [&](int e, Real* s) {
    const int r = d.row_list[e];
    s[0] += select(Real(d.row_dw[r]) != Real(0), Real(d.row_work[r]), Real(0));
  });
  Mask rebuild = work[0] > Real(0);
  if constexpr (works_alone<B>) {
    const Mask update = rebuild & (work[0] < Real(kUpdateShare * d.solver_n[kFactorWork]));
    rebuild = rebuild & !update;
    if (any(update)) update_factor(m, d, z, nchanged, update);
  }
  if (!any(rebuild)) return;
  for (int r : t.range(0, z.all())) {
    const Real w = d.row_w[r], wH = d.row_wH[r];
    d.row_dw[r] = select(rebuild, w - wH, Real(0));
    d.row_wH[r] = select(rebuild, w, wH);
  }
  active_slots(t, d, z, [&](int s) { return any(Real(d.row_dw[s]) != Real(0)); });
  hessian_add(t, m, d, z, d.row_dw);
  hessian_factor(t, m, d, rebuild);
}

// first and second derivative of s along the search direction
template <class B>
BS_FN void row_slope(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z, typename B::Real alpha,
                     typename B::Real (&s)[2]) {
  using Real = typename B::Real;
  sums<2>(t, 0, z.one_sided(), s, [&](int r, Real* p) {
    const Real v = d.row_v[r], y = fma(alpha, v, Real(d.row_x[r])), wv = select(y < Real(0), Real(d.row_D[r]), Real(0)) * v;
    p[0] = fma(wv, y, p[0]);
    p[1] = fma(wv, v, p[1]);
  });
  sums<2>(t, 0, z.nfric, s, [&](int q, Real* p) {
    const int r = z.one_sided() + q;
    const Real v = d.row_v[r], y = fma(alpha, v, Real(d.row_x[r])), loss = friction_loss(m, q), D = d.row_D[r];
    const auto inner = abs(y) < Real(d.fric_zone[q]);
    p[0] = fma(v, select(inner, D * y, select(y < Real(0), -loss, loss)), p[0]);
    p[1] = fma(select(inner, D, Real(0)) * v, v, p[1]);
  });
}

// the lanes in which some row is in another zone at alpha = 1
template <class B>
BS_FN typename B::Mask zones_differ(Team<B> t, const StateView<B>& d, const RowCounts& z) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  const Mask one_sided = t.any_lane(0, z.one_sided(), [&](int r) {
    const Real x = d.row_x[r], y = x + Real(d.row_v[r]);
    return ((x < Real(0)) ^ (y < Real(0))) & (Real(d.row_D[r]) > Real(0));
  });
  const Mask friction = t.any_lane(0, z.nfric, [&](int q) {
    const int r = z.one_sided() + q;
    const Real x = d.row_x[r], y = x + Real(d.row_v[r]), zone = d.fric_zone[q];
    return ((x < zone) ^ (y < zone)) | ((x > -zone) ^ (y > -zone));
  });
  return one_sided | friction;
}

// the step length: where the derivative along the search direction is zero
template <class B>
BS_FN typename B::Real line_search(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z,
                                   typename B::Mask live, typename B::Mask differ) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  using Limit = SolverLimits<typename B::Scalar>;
  Real q[3] = {0, 0, 0};  // of the quadratic part, at 0: slope, curvature; slope of all
  sums<3>(t, 0, m.nv, q, [&](int i, Real* p) {
    const Real s = d.search[i];
    p[0] = fma(s, Real(d.Ma[i]) - Real(d.qfrc_smooth[i]), p[0]);
    p[1] = fma(s, Real(d.Ms[i]), p[1]);
    p[2] = fma(s, Real(d.grad[i]), p[2]);
  });
  const Real enough = Real(Limit::kSlope) * abs(q[2]);
  Real alpha = select(live, Real(1), Real(0)), lo = 0, hi = 1e30;
  Mask busy = live & differ;
  for (int e = 0; e < Limit::kEvaluations && any(busy); e++) {
    Real s[2] = {fma(alpha, q[1], q[0]), q[1]};
    row_slope(t, m, d, z, alpha, s);
    busy = busy & (abs(s[0]) > enough);
    const Mask rising = s[0] >= Real(0);
    lo = select(rising, lo, alpha), hi = select(rising, alpha, hi);
    const Real next = alpha - s[0] / s[1];
    alpha = select(busy, select((next > lo) & (next < hi), next, Real(0.5) * (lo + hi)), alpha);
  }
  return alpha;
}

// one Newton step more, from the wide gradient, where accelerations are violent
template <class B>
BS_FN void refine_solution(Team<B> t, const ModelView<B>& m, const StateView<B>& d, const RowCounts& z,
                           typename B::Mask constrained) {
  using Real = typename B::Real;
  const typename B::Mask refine = constrained & violent(t, m, d.qacc);
  if (!any(refine)) return;
  residual(
      t, m, d, d.qacc, d.grad, [&](int k) { return widen(Real(d.qfrc_smooth[k])) + widen(Real(d.qfrc_constraint[k])); },
      [](int) { return 0; });
  newton_direction(t, m, d, refine);
  mul_J(t, m, d, z, d.search, d.row_v);
  for (int i : t.range(0, m.nv)) d.qacc[i] = select(refine, Real(d.qacc[i]) + Real(d.search[i]), Real(d.qacc[i]));
  t.sync();
  for (int r : t.range(0, z.all())) d.row_x[r] = select(refine, Real(d.row_x[r]) + Real(d.row_v[r]), Real(d.row_x[r]));
  t.sync();
  update_constraint(t, m, d, z, false, refine);
}

template <class B>
BS_FN void solver(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  using Limit = SolverLimits<typename B::Scalar>;
  unsigned some = 0;
  for (int l = 0; l < B::width; l++) some |= (d.nefc(0, l) > 0 ? 1u : 0u) << l;
  const Mask constrained = B::from_bits(some);
  if (!some) {
    for (int i : t.range(0, m.nv)) d.qacc[i] = Real(d.qacc_smooth[i]), d.qfrc_constraint[i] = 0;
    if (auto lead = t.leader())
      for (int l = 0; l < B::width; l++) d.solver_niter(0, l) = 0;
    return;
  }

  solver_layout(t, m, d);
  const RowCounts z = row_counts(d);
  solver_start(t, m, d, z, constrained);

  const Real h2 = Real(m.timestep[0] * m.timestep[0]);
  Mask live = constrained;
  Real niter = 0;
  for (int it = 0;; it++) {
    update_constraint(t, m, d, z, it == 0, live);
    if (!any(live) || it >= m.iterations) break;
    if (it == 0)
      first_factor(t, m, d, z);
    else
      next_factor(t, m, d, z);
    newton_direction(t, m, d, live);
    mul_M(t, m, d, d.search, d.Ms);
    mul_J(t, m, d, z, d.search, d.row_v);
    t.sync();

    const Mask differ = zones_differ(t, d, z);
    const Real alpha = line_search(t, m, d, z, live, differ);
    const Real step = h2 * abs(alpha) * Real(t.max(0, m.nv, [&](int i) { return abs(Real(d.search[i])); }));
    for (int i : t.range(0, m.nv)) {
      const Real a = d.qacc[i], Ma = d.Ma[i];
      d.qacc[i] = select(live, fma(alpha, Real(d.search[i]), a), a);
      d.Ma[i] = select(live, fma(alpha, Real(d.Ms[i]), Ma), Ma);
    }
    for (int r : t.range(0, z.all())) {
      const Real x = d.row_x[r];
      d.row_x[r] = select(live, fma(alpha, Real(d.row_v[r]), x), x);
    }
    t.sync();
    niter += select(live, Real(1), Real(0));
    const Mask exact = (step < Real(Limit::kExact)) & !differ, diverged = !(step < Real(1e30));
    live = live & !((step < Real(Limit::kDone)) | exact | diverged);
  }

  refine_solution(t, m, d, z, constrained);

  if (auto lead = t.leader())
    for (int l = 0; l < B::width; l++) d.solver_niter(0, l) = int(lane(niter, l));
  // a world whose acceleration is bad is dealt with as that
  if (any(live)) raise(t, d, kIterationLimit, live & !Mask(t.any_lane(0, m.nv, [&](int i) { return is_bad(Real(d.qacc[i])); })));
}

}  // namespace BS_ISA
}  // namespace batchsim
