// Integration over one timestep: semi-implicit Euler (joint damping implicit), implicitfast.
//
//   (M - h dF/dv) a = qfrc_smooth + qfrc_constraint;  qvel += h a;  qpos += h qvel
//
//   in     M qfrc_smooth qfrc_constraint qacc actuator_force, and the state
//   out    qpos qvel time qacc_warmstart;  scratch qHM qH qtmp
//   note   dF/dv of joint actuators and dampers is diagonal. Under implicitfast the six DoFs of a standalone free body are solved with
//          the unsymmetric derivative of their gyroscopic forces as well.
//   source engine_forward.c mj_EulerSkip, mj_implicitSkip, mj_advance; engine_derivative.c mjd_freeMhat
#pragma once

#include "kernels/actuation.h"
#include "kernels/com_pos.h"
#include "kernels/factor_m.h"
#include "kernels/kinematics.h"
#include "kernels/residual.h"

namespace batchsim {
inline namespace BS_ISA {

template <class R>
BS_FN Mat3<R> skew(Vec3<R> v) {
  return {{R(0), -v.z, v.y, v.z, R(0), -v.x, -v.y, v.x, R(0)}};
}
template <class R>
BS_FN Mat3<R> operator+(const Mat3<R>& A, const Mat3<R>& C) {
  Mat3<R> r;
  for (int k = 0; k < 9; k++) r.m[k] = A.m[k] + C.m[k];
  return r;
}
template <class R>
BS_FN Mat3<R> operator*(const Mat3<R>& A, R s) {
  Mat3<R> r;
  for (int k = 0; k < 9; k++) r.m[k] = A.m[k] * s;
  return r;
}
template <class R>
BS_FN Mat3<R> transpose(const Mat3<R>& A) {
  return {{A.m[0], A.m[3], A.m[6], A.m[1], A.m[4], A.m[7], A.m[2], A.m[5], A.m[8]}};
}

// (M + h dF_bias/dv) x = f for one free body, in place in x. With s the com from the joint, w the world's angular velocity, I the
// inertia about the com:  d bias / d w = (m K R; R' C R),  K = s w' - (w.s) 1 + [w x s],  C = -m [s] K + [w] I - [I w]
template <class B>
BS_FN void solve_free_body(const ModelView<B>& m, const StateView<B>& d, int jnt, Vec3<typename B::Real> lin_diag,
                           Vec3<typename B::Real> rot_diag, typename B::RealRow x) {
  using Real = typename B::Real;
  const int body = m.jnt_bodyid[jnt], adr = m.jnt_dofadr[jnt];
  const Real h = m.timestep[0], mass = m.body_mass[body];
  const Mat3<Real> R = load9<Real>(d.xmat, 9 * body), X = load9<Real>(d.ximat, 9 * body);
  const Vec3<Real> s = load3<Real>(d.xipos, 3 * body) - load3<Real>(d.xpos, 3 * body);
  const Vec3<Real> w = R * load3<Real>(d.qvel, adr + 3);
  const Inertia<Real> Ib = inertia_about(m.body_inertia + 3 * body, X, Vec3<Real>{0, 0, 0}, mass);
  const Mat3<Real> I{{Ib.xx, Ib.xy, Ib.xz, Ib.xy, Ib.yy, Ib.yz, Ib.xz, Ib.yz, Ib.zz}};
  const Real ws = dot(w, s);
  Mat3<Real> K = skew(cross(w, s));
  const Real sv[3] = {s.x, s.y, s.z}, wv[3] = {w.x, w.y, w.z};
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) K.m[3 * r + c] = K.m[3 * r + c] + sv[r] * wv[c] - (r == c ? ws : Real(0));
  const Mat3<Real> C = (skew(s) * K) * (-mass) + skew(w) * I + skew(I * w) * Real(-1);
  const Mat3<Real> lin = (K * R) * (-h * mass), rot = (transpose(R) * (C * R)) * h;

  Real A[6][6];
  for (int r = 0; r < 6; r++)
    for (int c = 0; c <= r; c++) A[r][c] = A[c][r] = d.M[m.M_rowadr[adr + r] + kQuad * c];
  const Real extra[6] = {lin_diag.x, lin_diag.y, lin_diag.z, rot_diag.x, rot_diag.y, rot_diag.z};
  for (int r = 0; r < 6; r++) A[r][r] = A[r][r] + extra[r];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      A[r][3 + c] = A[r][3 + c] + lin.m[3 * r + c];
      A[3 + r][3 + c] = A[3 + r][3 + c] + rot.m[3 * r + c];
    }

  // elimination without pivoting: the symmetric part is M, positive definite
  Real b[6];
  for (int r = 0; r < 6; r++) b[r] = x[adr + r];
  for (int k = 0; k < 6; k++) {
    const Real inv = Real(1) / A[k][k];
    for (int r = k + 1; r < 6; r++) {
      const Real l = A[r][k] * inv;
      for (int c = k + 1; c < 6; c++) A[r][c] = A[r][c] - l * A[k][c];
      b[r] = b[r] - l * b[k];
    }
  }
  for (int k = 5; k >= 0; k--) {
    for (int c = k + 1; c < 6; c++) b[k] = b[k] - A[k][c] * b[c];
    b[k] = b[k] / A[k][k];
  }
  for (int r = 0; r < 6; r++) x[adr + r] = b[r];
}

// -h dF/dv on the diagonal
template <class B>
BS_FN typename B::Real implicit_diagonal(const ModelView<B>& m, const StateView<B>& d, int k) {
  using Real = typename B::Real;
  Real slope = 0;
  if (m.integrator == kImplicitfast) slope = actuator_damping(m, d, k);
  if (!(m.disableflags & kDisableDamper)) slope = slope - Real(m.dof_damping[k]);
  return -Real(m.timestep[0]) * slope;
}

// acceleration that moves the state, into qtmp
template <class B>
BS_FN void implicit_acceleration(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  using Real = typename B::Real;
  const bool damped = m.has_damping && !(m.disableflags & (kDisableEulerdamp | kDisableDamper));
  if (m.integrator == kEuler && !damped) {
    for (int k : t.range(0, m.nv)) d.qtmp[k] = Real(d.qacc[k]);
    return;
  }
  for (int c : t.range(0, m.ncol)) {
    const int k = m.M_colind[c];
    Quad<Real> q = load_quad<B>(d.M, c);
    if (k >= 0 && m.dof_seg[k] == m.col_seg[c]) {
      const Real extra = implicit_diagonal(m, d, k);
      for (int p = 0; p < kQuad; p++) q.v[p] = q.v[p] + (p == k - m.seg_dof[m.col_seg[c]] ? extra : Real(0));
    }
    store_quad<B>(d.qHM, c, q);
  }
  for (int i : t.range(0, m.nv)) d.qtmp[i] = Real(d.qfrc_smooth[i]) + Real(d.qfrc_constraint[i]);
  raise(t, d, kBadInertia, factor_tree(t, m, d, d.qHM, d.qH));

  // a standalone free body is alone in its tree, so its DoFs can be solved first and left out below
  const bool gyro = m.integrator == kImplicitfast && m.nfreebody > 0;
  if (gyro) {
    for (int q : t.range(0, m.nfreebody)) {
      const int j = m.free_jntid[q], adr = m.jnt_dofadr[j];
      Real e[6];
      for (int r = 0; r < 6; r++) e[r] = implicit_diagonal(m, d, adr + r);
      for (int r = 0; r < 6; r++) d.qtmp[m.nv + adr + r] = Real(d.qtmp[adr + r]);
      solve_free_body(m, d, j, Vec3<Real>{e[0], e[1], e[2]}, Vec3<Real>{e[3], e[4], e[5]}, d.qtmp + m.nv);
    }
  }
  solve_tree(t, m, d, d.qH, d.qtmp);
  const auto refine = violent(t, m, d.qtmp);
  if (any(refine)) {
    const auto r = d.qtmp + 2 * m.nv;
    residual(
        t, m, d, d.qtmp, r, [&](int k) { return widen(Real(d.qfrc_smooth[k])) + widen(Real(d.qfrc_constraint[k])); },
        [&](int k) { return implicit_diagonal(m, d, k); });
    solve_tree(t, m, d, d.qH, r);
    for (int k : t.range(0, m.nv)) d.qtmp[k] = select(refine, Real(d.qtmp[k]) - Real(r[k]), Real(d.qtmp[k]));
    t.sync();
  }
  if (gyro) {
    for (int q : t.range(0, m.nfreebody)) {
      const int adr = m.jnt_dofadr[m.free_jntid[q]];
      for (int r = 0; r < 6; r++) d.qtmp[adr + r] = Real(d.qtmp[m.nv + adr + r]);
    }
    t.sync();
  }
}

// quat times the rotation by h w in its own frame (mju_quatIntegrate)
template <class R>
BS_FN Quat<R> integrate_quat(Quat<R> q, Vec3<R> w, R h) {
  const R speed = norm(w);
  const auto still = speed < R(1e-15);
  const R inv = select(still, R(1), R(1) / select(still, R(1), speed));
  const SinCos<R> half = sincos(speed * h * R(0.5));
  const R s = select(still, R(0), half.sin * inv);
  return normalize(q) * Quat<R>{select(still, R(1), half.cos), w.x * s, w.y * s, w.z * s};
}

// live: the lanes that move; a frozen world keeps its state
template <class B>
BS_FN void integrate(Team<B> t, const ModelView<B>& m, StateView<B> d, typename B::Mask live) {
  using Real = typename B::Real;
  const Real h = m.timestep[0];
  implicit_acceleration(t, m, d);

  for (int k : t.range(0, m.nv)) {
    d.qvel[k] = select(live, fma(h, Real(d.qtmp[k]), Real(d.qvel[k])), Real(d.qvel[k]));
    d.qacc_warmstart[k] = select(live, Real(d.qacc[k]), Real(d.qacc_warmstart[k]));
  }
  t.sync();
  for (int j : t.range(0, m.njnt)) {
    const int q = m.jnt_qposadr[j], v = m.jnt_dofadr[j];
    if (m.jnt_type[j] == kJointFree) {
      const Vec3<Real> p = load3<Real>(d.qpos, q);
      store(d.qpos, q, select3(live, p + load3<Real>(d.qvel, v) * h, p));
      const Quat<Real> was = load4<Real>(d.qpos, q + 3), now = integrate_quat(was, load3<Real>(d.qvel, v + 3), h);
      store(d.qpos, q + 3,
            Quat<Real>{select(live, now.w, was.w), select(live, now.x, was.x), select(live, now.y, was.y),
                       select(live, now.z, was.z)});
    } else {
      d.qpos[q] = select(live, fma(h, Real(d.qvel[v]), Real(d.qpos[q])), Real(d.qpos[q]));
    }
  }
  if (auto lead = t.leader()) {
    // compensated, so that a float clock is right to its last bit after any number of steps
    const Real left = d.time_carry[0], carry = select(abs(left) <= h, left, Real(0));  // none after a time that was no number
    const Real was = d.time[0], step = h + carry, now = was + step;
    d.time_carry[0] = select(live, step - (now - was), Real(d.time_carry[0]));
    d.time[0] = select(live, now, was);
    for (int l : lanes(live))
      if (d.push_left(0, l) > 0) d.push_left(0, l) = d.push_left(0, l) - 1;
  }
  t.sync();
}

}  // namespace BS_ISA
}  // namespace batchsim
