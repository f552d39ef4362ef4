// How a constraint's solref and solimp become stiffness, damping and impedance.
//
// source engine_core_constraint.c getsolparam, getimpedance, mj_makeImpedance; solver parameters in MuJoCo's modeling chapter
#pragma once

#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

template <class R>
struct Solparam {
  R ref0, ref1;                          // solref
  R dmin, dmax, width, midpoint, power;  // solimp
};
template <class R>
struct Kbip {
  R K, B, imp, impP;
};

// x^e for x in [0, 1]; lanes part only where a model has an unusual power
template <class B>
BS_FN typename B::Real small_power(typename B::Real x, typename B::Real e) {
  using Real = typename B::Real;
  Real r = select(e == Real(1), x, Real(1));
  for (int l : lanes((e != Real(1)) & (e != Real(0)))) set_lane(r, l, typename B::Scalar(::pow(lane(x, l), lane(e, l))));
  return r;
}

// d and d' at pos - margin: from dmin at 0 to dmax at width, two powers that meet at the midpoint
template <class B>
BS_FN void impedance(const Solparam<typename B::Real>& p, typename B::Real pos, typename B::Real& imp, typename B::Real& impP) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  const Mask flat = (p.dmin == p.dmax) | (p.width <= Real(1e-15));
  const Real s = pos / select(flat, Real(1), p.width), x = abs(s);
  const Mask inside = (x > Real(0)) & (x < Real(1));

  // y = x^p / mid^(p-1) below the midpoint, 1 - (1-x)^p / (1-mid)^(p-1) above; linear where p = 1
  const Mask low = (x <= p.midpoint) | (p.power == Real(1));
  const Real base = select(inside, select(low, x, Real(1) - x), Real(0.5));
  const Real scale = select(low, p.midpoint, Real(1) - p.midpoint);
  const Real ratio = small_power<B>(base / scale, p.power - Real(1));
  const Real y = select(low, ratio * base, Real(1) - ratio * base);
  const Real slope = p.power * ratio * (p.dmax - p.dmin) / select(flat, Real(1), p.width);

  const Real edge = select(x >= Real(1), p.dmax, p.dmin);
  imp = select(flat, Real(0.5) * (p.dmin + p.dmax), select(inside, p.dmin + y * (p.dmax - p.dmin), edge));
  impP = select(inside & !flat, select(s < Real(0), -slope, slope), Real(0));
}

// both forms of solref: time constant and damping ratio (positive), stiffness and damping (negative)
template <class B>
BS_FN Kbip<typename B::Real> kbip(const ModelView<B>& m, Solparam<typename B::Real> p, typename B::Real pos) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  const Real minval = 1e-15, least = 0.0001, most = 0.9999;
  const Mask mixed = (p.ref0 > Real(0)) ^ (p.ref1 > Real(0));
  p.ref0 = select(mixed, Real(0.02), p.ref0), p.ref1 = select(mixed, Real(1), p.ref1);
  const Mask standard = p.ref0 > Real(0);
  if (!(m.disableflags & kDisableRefsafe)) p.ref0 = select(standard, max(p.ref0, Real(2 * m.timestep[0])), p.ref0);
  p.dmin = min(most, max(least, p.dmin)), p.dmax = min(most, max(least, p.dmax));
  p.width = max(Real(0), p.width);
  p.midpoint = min(most, max(least, p.midpoint)), p.power = max(Real(1), p.power);

  Kbip<Real> r;
  const Real rate = p.dmax * p.ref0;
  r.K = select(standard, Real(1) / max(minval, rate * rate * p.ref1 * p.ref1), -p.ref0 / max(minval, p.dmax * p.dmax));
  r.B = select(standard, Real(2) / max(minval, rate), -p.ref1 / max(minval, p.dmax));
  impedance<B>(p, pos, r.imp, r.impP);
  return r;
}

// R = (1 - d) / d times the approximate inverse inertia
template <class R>
BS_FN R regulariser(R imp, R diag) {
  return max(R(1e-15), (R(1) - imp) * diag / imp);
}

template <class Row, class R>
BS_FN void store(const Row& a, int i, const Kbip<R>& k) {
  a[i] = k.K, a[i + 1] = k.B, a[i + 2] = k.imp, a[i + 3] = k.impP;
}

}  // namespace BS_ISA
}  // namespace batchsim
