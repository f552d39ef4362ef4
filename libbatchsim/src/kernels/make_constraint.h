// mj_makeConstraint, mj_referenceConstraint: what makes constraint rows in each world, and their parameters.
//
// in   qpos, qvel, cvel, subtree_com, con_*, ncon
// out  con_row, con_R, con_D, con_KBIP, con_nrow, con_leaf1, con_leaf2, con_work; lim_*, fric_*; nefc, nefc_need, status |= kRowsDropped
//
// A row of a contact is a force direction u at the contact's point, and a torque: a 6-vector f about the com of the tree of the body
// that it acts on, so that J(row, k) = f . cdof(k) on the second body's chain, -f . cdof(k) on the first's, and exactly 0 for DoFs
// that move both. No Jacobian is needed here: the row's velocity is f . (cvel of body 2 - cvel of body 1). The rows of the pyramid
// are u = n + mu t, n - mu t for each tangent, n with a torque +- mu n for torsion.
//
// Rows beyond njmax are dropped in MuJoCo's order (friction loss, limits, contacts); a contact that does not fit is left out whole,
// and with it all that follow. MuJoCo itself drops every row when its memory is full.
//
// barriers: two
// source engine_core_constraint.c mj_instantiateFriction, _Limit, _Contact, mj_diagApprox, mj_makeImpedance, mj_referenceConstraint
#pragma once

#include "kernels/impedance.h"
#include "kernels/status.h"

namespace batchsim {
inline namespace BS_ISA {

// one lane of a row of memory, read and written where it lies: a pack in registers has no cheap lanes
template <class B>
BS_FN typename B::Scalar peek(const typename B::RealRow& row, int i, int l) {
  if constexpr (B::width == 1)
    return row[i];
  else
    return row[i][l];
}
template <class B>
BS_FN void poke(const typename B::RealRow& row, int i, int l, typename B::Scalar x) {
  if constexpr (B::width == 1)
    row[i] = x;
  else
    row[i].set(l, x);
}

// what each lane finds at its own place of a table
template <class B, class Index>
BS_FN typename B::Real gather(const typename B::Scalar* table, Index index) {
  typename B::Real r = 0;
  for (int l = 0; l < B::width; l++) set_lane(r, l, table[index(l)]);
  return r;
}
template <class B, class Index>
BS_FN Vec3<typename B::Real> gather3(const typename B::RealRow& row, Index index) {
  Vec3<typename B::Real> r{0, 0, 0};
  for (int l = 0; l < B::width; l++) {
    const int i = index(l);
    set_lane(r.x, l, peek<B>(row, i, l));
    set_lane(r.y, l, peek<B>(row, i + 1, l));
    set_lane(r.z, l, peek<B>(row, i + 2, l));
  }
  return r;
}

// whether DoF k moves what leaf moves: it is among leaf's ancestors, or leaf itself
BS_FN bool has_dof(const int* subtreenum, int leaf, int k) { return k <= leaf && leaf <= k + subtreenum[k]; }

// whether neither leaf is on the other's chain
template <class B>
BS_FN bool joins_limbs(const ModelView<B>& m, int leaf1, int leaf2) {
  return leaf1 >= 0 && leaf2 >= 0 && !has_dof(m.dof_subtreenum, leaf1, leaf2) && !has_dof(m.dof_subtreenum, leaf2, leaf1);
}

// multiply-adds of a rank-one update along n DoFs
BS_FN int update_work(int n) { return n * (n + 6); }

// friction loss of the q-th such DoF
template <class B>
BS_FN void friction_row(const ModelView<B>& m, const StateView<B>& d, int q) {
  using Real = typename B::Real;
  const int k = m.fric_dofid[q];
  const auto* ref = m.dof_solref + 2 * k;
  const auto* imp = m.dof_solimp + 5 * k;
  Kbip<Real> p = kbip(m, {ref[0], ref[1], imp[0], imp[1], imp[2], imp[3], imp[4]}, Real(0));
  p.K = 0;
  const Real R = regulariser(p.imp, Real(m.dof_invweight0[k]));
  store(d.fric_KBIP, 4 * q, p);
  d.fric_R[q] = R;
  d.fric_D[q] = Real(1) / R;
  d.fric_zone[q] = R * Real(m.dof_frictionloss[k]);
  d.fric_aref[q] = -p.B * Real(d.qvel[k]);
}

// one side of the limit of the q-th limited joint; side 0: lower
template <class B>
BS_FN void limit_row(const ModelView<B>& m, const StateView<B>& d, int q, int side) {
  using Real = typename B::Real;
  const int e = 2 * q + side, j = m.limit_jntid[q], k = m.jnt_dofadr[j];
  const Real sign = side ? -1 : 1, margin = m.jnt_margin[j];
  const Real pos = sign * (Real(d.qpos[m.jnt_qposadr[j]]) - Real(m.jnt_range[2 * j + side]));
  const auto active = pos < margin;
  d.lim_pos[e] = pos;
  if (!any(active)) {
    d.lim_D[e] = 0;
    return;
  }
  const auto* ref = m.jnt_solref + 2 * j;
  const auto* imp = m.jnt_solimp + 5 * j;
  const Kbip<Real> p = kbip(m, {ref[0], ref[1], imp[0], imp[1], imp[2], imp[3], imp[4]}, pos - margin);
  const Real R = regulariser(p.imp, Real(m.dof_invweight0[k]));
  const Real aref = -p.B * (sign * Real(d.qvel[k])) - p.K * p.imp * (pos - margin);
  store(d.lim_KBIP, 4 * e, p);
  d.lim_R[e] = R;
  d.lim_D[e] = select(active, Real(1) / R, Real(0));
  d.lim_aref[e] = select(active, aref, Real(0));
}

// all rows of contact slot c; a lane's contact has a pair of its own
template <class B>
BS_FN void contact_rows(const ModelView<B>& m, const StateView<B>& d, int c) {
  using Real = typename B::Real;
  using Mask = typename B::Mask;
  int pair[B::width], body1[B::width], body2[B::width];
  unsigned present = 0;
  int most = 0;
  for (int l = 0; l < B::width; l++) {
    const bool here = c < d.ncon(0, l);
    const int p = pair[l] = here ? int(d.con_pair(c, l)) : 0;
    body1[l] = m.pair_body1[p], body2[l] = m.pair_body2[p];
    const int leaf1 = m.body_lastdof[body1[l]], leaf2 = m.body_lastdof[body2[l]];
    d.con_leaf1(c, l) = leaf1, d.con_leaf2(c, l) = leaf2;
    if (!here || (leaf1 < 0 && leaf2 < 0)) continue;
    present |= 1u << l;
    // by the world's own DoFs: what it chooses must not depend on its neighbours
    const int depth = m.dof_depth[max_int(leaf1, leaf2)] + 1;
    d.con_work(c, l) = update_work(joins_limbs(m, leaf1, leaf2) ? depth + m.dof_depth[min_int(leaf1, leaf2)] + 1 : depth);
  }
  const auto in_pair = [&](const typename B::Scalar* table, int cols, int k) {
    return gather<B>(table, [&](int l) { return cols * pair[l] + k; });
  };

  // in the gap: no force
  const Real dist = d.con_dist[c], pos = dist - in_pair(m.pair_margin, 1, 0);
  const Mask active = B::from_bits(present) & (pos < Real(0));
  const unsigned act = bits(active);
  for (int l = 0; l < B::width; l++) {
    const int dim = m.pair_dim[pair[l]], n = act >> l & 1 ? (dim == 1 ? 1 : 2 * (dim - 1)) : 0;
    d.con_nrow(c, l) = n;
    most = max_int(most, n);
  }
  if (!most) return;

  const Solparam<Real> sol{in_pair(m.pair_solref, 2, 0), in_pair(m.pair_solref, 2, 1), in_pair(m.pair_solimp, 5, 0),
                           in_pair(m.pair_solimp, 5, 1), in_pair(m.pair_solimp, 5, 2), in_pair(m.pair_solimp, 5, 3),
                           in_pair(m.pair_solimp, 5, 4)};
  const Kbip<Real> p = kbip(m, sol, pos);
  store(d.con_KBIP, 4 * c, p);

  // rows of a pyramid share the R that gives the friction of the elliptic cone: 2 mu^2 R(normal)
  Real frictional = 0;
  for (int l = 0; l < B::width; l++) set_lane(frictional, l, typename B::Scalar(m.pair_dim[pair[l]] > 1));
  const Mask cone = frictional > Real(0);
  const Real mu = select(cone, in_pair(m.pair_friction, 5, 0), Real(0)), weight = in_pair(m.pair_invweight, 2, 0);
  const Real R = regulariser(p.imp, weight + mu * mu * weight);
  const Real Rrow = select(cone, Real(2) * mu * mu * R, R);
  d.con_R[c] = Rrow;
  d.con_D[c] = Real(1) / Rrow;

  // the point about the com of each body's tree, and each body's velocity
  const Vec3<Real> com1 = gather3<B>(d.subtree_com, [&](int l) { return 3 * m.body_rootid[body1[l]]; });
  const Vec3<Real> com2 = gather3<B>(d.subtree_com, [&](int l) { return 3 * m.body_rootid[body2[l]]; });
  const Vec3<Real> at1 = offset_from(com1, d.con_pos, d.con_pos_lo, 3 * c), at2 = offset_from(com2, d.con_pos, d.con_pos_lo, 3 * c);
  const Vec3<Real> w1 = gather3<B>(d.cvel, [&](int l) { return 6 * body1[l]; }),
                   v1 = gather3<B>(d.cvel, [&](int l) { return 6 * body1[l] + 3; });
  const Vec3<Real> w2 = gather3<B>(d.cvel, [&](int l) { return 6 * body2[l]; }),
                   v2 = gather3<B>(d.cvel, [&](int l) { return 6 * body2[l] + 3; });

  const Mat3<Real> frame = load9<Real>(d.con_frame, 9 * c);
  const Vec3<Real> normal = frame.row(0);
  for (int r = 0; r < most; r++) {
    const int axis = r / 2 + 1;  // 1, 2: tangents; 3: torsion
    const Real friction = select(cone, in_pair(m.pair_friction, 5, axis - 1), Real(0));
    const Vec3<Real> edge = frame.row(axis % 3) * (r % 2 ? -friction : friction);
    const Vec3<Real> nil{0, 0, 0}, u = axis < 3 ? normal + edge : normal, torque = axis < 3 ? nil : edge;
    const Vec3<Real> t2 = cross(at2, u) + torque, t1 = cross(at1, u) + torque;
    const Real vel = (dot(t2, w2) + dot(u, v2)) - (dot(t1, w1) + dot(u, v1));
    const int row = 10 * (kContactRows * c + r);
    store(d.con_row, row, u), store(d.con_row, row + 3, t2), store(d.con_row, row + 6, t1);
    d.con_row[row + 9] = -p.B * vel - p.K * p.imp * pos;
  }
}

// drop what exceeds njmax, count the rest
template <class B>
BS_FN void admit_rows(const StateView<B>& d, int nfric, int nlimit, int ncon) {
  using Real = typename B::Real;
  Real nlim = 0;
  for (int e = 0; e < nlimit; e++) nlim += select(Real(d.lim_D[e]) > Real(0), Real(1), Real(0));
  for (int l = 0; l < B::width; l++) {
    int need = nfric + int(lane(nlim, l));
    for (int c = 0; c < ncon && c < d.ncon(0, l); c++) need += d.con_nrow(c, l);
    d.nefc_need(0, l) = need;
    d.nefc(0, l) = need;
    if (need <= d.njmax) continue;

    d.status(0, l) = d.status(0, l) | int(kRowsDropped);
    int n = 0;
    for (int q = 0; q < nfric; q++) {
      if (n++ < d.njmax) continue;
      poke<B>(d.fric_D, q, l, 0);
      poke<B>(d.fric_zone, q, l, typename B::Scalar(1e30));
    }
    for (int e = 0; e < nlimit; e++)
      if (peek<B>(d.lim_D, e, l) > 0 && n++ >= d.njmax) poke<B>(d.lim_D, e, l, 0);
    n = min_int(n, d.njmax);
    bool full = false;
    for (int c = 0; c < ncon && c < d.ncon(0, l); c++) {
      full = full || n + d.con_nrow(c, l) > d.njmax;
      if (full) d.con_nrow(c, l) = 0;
      n += d.con_nrow(c, l);
    }
    d.nefc(0, l) = n;
  }
}

template <class B>
BS_FN int friction_sources(const ModelView<B>& m) {
  return m.disableflags & (kDisableConstraint | kDisableFrictionloss) ? 0 : m.nfric;
}
template <class B>
BS_FN int limit_sources(const ModelView<B>& m) {
  return m.disableflags & (kDisableConstraint | kDisableLimit) ? 0 : 2 * m.nlimit;
}
template <class B>
BS_FN int contact_sources(const ModelView<B>& m, const StateView<B>& d) {
  int n = 0;
  if (m.disableflags & (kDisableConstraint | kDisableContact)) return 0;
  for (int l = 0; l < B::width; l++) n = max_int(n, d.ncon(0, l));
  return n;
}

template <class B>
BS_FN void make_constraint(Team<B> t, const ModelView<B>& m, StateView<B> d) {
  const int nfric = friction_sources(m), nlimit = limit_sources(m), ncon = contact_sources(m, d);
  for (int q : t.range(0, nfric)) friction_row(m, d, q);
  for (int e : t.range(0, nlimit)) limit_row(m, d, e / 2, e % 2);
  for (int c : t.range(0, ncon)) contact_rows(m, d, c);
  t.sync();
  if (auto lead = t.leader()) admit_rows(d, nfric, nlimit, ncon);
}

}  // namespace BS_ISA
}  // namespace batchsim
