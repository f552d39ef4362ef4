// Unconstrained acceleration: qacc_smooth = M^-1 (passive - bias + applied + actuator + J' xfrc).
//
//   in     qfrc_passive qfrc_bias qfrc_applied qfrc_actuator xfrc_applied, a running push; qLD cdof
//   out    qfrc_smooth qacc_smooth;  scratch qtmp
//   source engine_forward.c mj_fwdAcceleration, engine_support.c mj_xfrcAccumulate
#pragma once

#include "kernels/factor_m.h"
#include "kernels/residual.h"
#include "kernels/rne.h"

namespace batchsim {
inline namespace BS_ISA {

// the wrenches on a body as a spatial force about the com of its tree
template <class B>
BS_FN Spatial<typename B::Real> applied_wrench(const ModelView<B>& m, const StateView<B>& d, int i) {
  using Real = typename B::Real;
  const Vec3<Real> com = load3<Real>(d.subtree_com, 3 * m.body_rootid[i]), at = load3<Real>(d.xipos, 3 * i) - com;
  const Vec3<Real> force = load3<Real>(d.xfrc_applied, 6 * i), torque = load3<Real>(d.xfrc_applied, 6 * i + 3);
  Spatial<Real> f{torque + cross(at, force), force};

  // a push that still runs acts at its point, given from the body's com in the body's frame
  unsigned on = 0;
  for (int l = 0; l < B::width; l++)
    if (d.push_left(0, l) > 0 && d.push_body(0, l) == i) on |= 1u << l;
  if (on) {
    const Vec3<Real> zero{0, 0, 0}, force = load3<Real>(d.push_force, 0);
    const Vec3<Real> point = at + load9<Real>(d.xmat, 9 * i) * load3<Real>(d.push_point, 0);
    f = f + Spatial<Real>{select3(B::from_bits(on), cross(point, force), zero), select3(B::from_bits(on), force, zero)};
  }
  return f;
}

template <class B>
BS_FN void smooth_acc(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;

  // most steps have no applied wrench at all; adding +0 keeps the bits of a world whose neighbour in the tile is pushed
  const bool applied = t.any(6, 6 * m.nbody, [&](int a) { return any(Real(d.xfrc_applied[a]) != Real(0)); });
  const bool wrench = applied | t.any(0, B::width, [&](int l) { return d.push_left(0, l) > 0; });
  if (wrench) {
    for (int i : t.range(1, m.nbody)) store(d.cfrc, 6 * i, applied_wrench(m, d, i));
    t.sync();
    sum_subtrees(t, m, d.cfrc);
  }
  for (int k : t.range(0, m.nv)) {
    Real f = Real(d.qfrc_passive[k]) - Real(d.qfrc_bias[k]) + Real(d.qfrc_applied[k]) + Real(d.qfrc_actuator[k]);
    f = f + (wrench ? dot(load6<Real>(d.cdof, 6 * k), load6<Real>(d.cfrc, 6 * m.dof_bodyid[k])) : Real(0)) + Real(0);
    d.qfrc_smooth[k] = f;
    d.qacc_smooth[k] = f;
  }
  solve_tree(t, m, d, d.qLD, d.qacc_smooth);

  const auto refine = violent(t, m, d.qacc_smooth);
  if (!any(refine)) return;
  residual(
      t, m, d, d.qacc_smooth, d.qtmp, [&](int k) { return widen(Real(d.qfrc_smooth[k])); }, [](int) { return 0; });
  solve_tree(t, m, d, d.qLD, d.qtmp);
  for (int k : t.range(0, m.nv))
    d.qacc_smooth[k] = select(refine, Real(d.qacc_smooth[k]) - Real(d.qtmp[k]), Real(d.qacc_smooth[k]));
}

}  // namespace BS_ISA
}  // namespace batchsim
