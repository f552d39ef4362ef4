// The residual of an equation of motion, wide, and who needs it: one step of iterative refinement for violent accelerations.
//
//   r = M x + diag x - f,   M x by bodies: a = cdof x summed from the root, I a summed from the leaves, projected on cdof
//
//   in     cinert cdof, the vector x, f(k) and diag(k) of DoF k
//   out    r;  scratch cacc cacc_lo cfrc cfrc_lo
//
// Elimination in float loses two digits where links are light for what hangs on them (a waist between the trunk and two legs: the pivot
// is 1/50 of the diagonal of M), and rounding M alone costs as much. That shows where motors chatter at 5,000 rad/s^2, 0.1 rad a step:
// 94.6 % of the steps of a standing humanoid within 1e-6 rad of MuJoCo's, all of them with one refinement of qacc_smooth, of qacc and of
// the acceleration that moves the state.
// With M in float the residual is not worth taking (96.8 %). In double it changes nothing, but it is the same text.
//
//   source Higham, Accuracy and Stability of Numerical Algorithms, ch. 12 (iterative refinement); Featherstone, sec. 5.3 (the product)
#pragma once

#include "math/wide.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// rad; an acceleration that turns a joint by more in a step is refined: there, float's 1e-5 of it comes near the 1e-6 rad of a step
inline constexpr double kViolent = 0.01;

template <class B>
BS_FN typename B::Mask violent(Team<B> t, const ModelView<B>& m, typename B::RealRow x) {
  using Real = typename B::Real;
  const Real largest = t.max(0, m.nv, [&](int k) { return abs(Real(x[k])); });
  return largest * Real(m.timestep[0] * m.timestep[0]) > Real(kViolent);
}

// r[k] belongs to the member that computes DoF k until the next barrier
template <class B, class Force, class Diagonal>
BS_FN void residual(Team<B> t, const ModelView<B>& m, const StateView<B>& d, typename B::RealRow x, typename B::RealRow r, Force f,
                    Diagonal diag) {
  using Real = typename B::Real;
  using Wide = wide<Real>;
  if (auto lead = t.leader()) store_wide<Real>(d.cacc, d.cacc_lo, 0, Spatial<Wide>{{0, 0, 0}, {0, 0, 0}});
  t.sync();
  for (int level = 1; level < m.nbodylevel; level++) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) {
      const int i = m.body_order[q], dof = m.body_dofadr[i];
      Spatial<Wide> a = load6_wide<Real>(d.cacc, d.cacc_lo, 6 * m.body_parentid[i]);
      for (int k = dof; k < dof + m.body_dofnum[i]; k++) a = a + widen(load6<Real>(d.cdof, 6 * k)) * widen(Real(x[k]));
      store_wide<Real>(d.cacc, d.cacc_lo, 6 * i, a);
      store_wide<Real>(d.cfrc, d.cfrc_lo, 6 * i, widen(load10<Real>(d.cinert, 10 * i)) * a);
    }
    t.sync();
  }
  for (int level = m.nbodylevel - 2; level > 0; level--) {
    for (int q : t.range(m.body_leveladr[level], m.body_leveladr[level + 1])) {
      const int i = m.body_order[q];
      Spatial<Wide> sum = load6_wide<Real>(d.cfrc, d.cfrc_lo, 6 * i);
      for (int c = m.body_childadr[i]; c < m.body_childadr[i + 1]; c++)
        sum = sum + load6_wide<Real>(d.cfrc, d.cfrc_lo, 6 * m.body_child[c]);
      store_wide<Real>(d.cfrc, d.cfrc_lo, 6 * i, sum);
    }
    t.sync();
  }
  for (int k : t.range(0, m.nv)) {
    const Wide Mx = dot(widen(load6<Real>(d.cdof, 6 * k)), load6_wide<Real>(d.cfrc, d.cfrc_lo, 6 * m.dof_bodyid[k]));
    r[k] = narrow<Real>(Mx + widen(Real(m.dof_armature[k]) + Real(diag(k))) * widen(Real(x[k])) - f(k));
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
