// A world's constraint rows in MuJoCo's order, from the places where the solver keeps them. On the host, after the solver.
//
// source engine_core_constraint.c: friction loss, limits, contacts; efc_* of mjData
#pragma once

#include "kernels/solver.h"
#include "world/engine.h"

namespace batchsim {
inline namespace BS_ISA {

// mjtConstraint, mjtConstraintState
enum { kRowFriction = 1, kRowLimit = 3, kRowFrictionless = 5, kRowPyramidal = 6 };
enum { kSatisfied = 0, kQuadratic = 1, kLinearNegative = 2, kLinearPositive = 3 };

template <class B>
void export_constraint(const ModelView<B>& m, const StateView<B>& d, int lane, WorldExport& e) {
  const auto at = [&](const typename B::RealRow& row, int i) { return double(B::get(row, i, lane)); };
  e.nefc = e.nf = e.nl = 0;
  for (auto* v : {&e.efc_type, &e.efc_id, &e.efc_state}) v->clear();
  for (auto* v : {&e.efc_J, &e.efc_pos, &e.efc_margin, &e.efc_frictionloss, &e.efc_diagA, &e.efc_KBIP, &e.efc_D, &e.efc_R,
                  &e.efc_vel, &e.efc_aref, &e.efc_force})
    v->clear();
  const int ncon = d.ncon(0, lane);
  e.con_efc_address.assign(ncon, -1);
  if (!d.nefc(0, lane)) return;
  const RowCounts z = row_counts(d);

  // a row whose J starts as zeros; returns where
  const auto add = [&](int type, int id, double pos, double margin, double loss, double R, const typename B::RealRow& kbip, int k,
                       double aref, int slot) {
    e.efc_type.push_back(type), e.efc_id.push_back(id);
    e.efc_pos.push_back(pos), e.efc_margin.push_back(margin), e.efc_frictionloss.push_back(loss);
    for (int i = 0; i < 4; i++) e.efc_KBIP.push_back(at(kbip, k + i));
    const double imp = at(kbip, k + 2);
    e.efc_R.push_back(R), e.efc_D.push_back(1 / R), e.efc_diagA.push_back(R * imp / (1 - imp));
    e.efc_aref.push_back(aref), e.efc_force.push_back(at(d.row_f, slot));
    const double x = at(d.row_x, slot), zone = R * loss;
    if (type == kRowFriction)
      e.efc_state.push_back(x <= -zone ? kLinearNegative : x >= zone ? kLinearPositive : kQuadratic);
    else
      e.efc_state.push_back(x < 0 ? kQuadratic : kSatisfied);
    e.efc_J.resize(e.efc_J.size() + m.nv, 0.0);
    return e.efc_J.size() - m.nv;
  };
  const auto close = [&](size_t J) {
    double vel = 0;
    for (int k = 0; k < m.nv; k++) vel += e.efc_J[J + k] * at(d.qvel, k);
    e.efc_vel.push_back(vel);
    e.nefc++;
  };

  for (int q = 0; q < friction_sources(m); q++) {
    if (at(d.fric_D, q) == 0) continue;
    const int k = m.fric_dofid[q];
    const size_t J = add(kRowFriction, k, 0, 0, m.dof_frictionloss[k], at(d.fric_R, q), d.fric_KBIP, 4 * q, at(d.fric_aref, q),
                         z.one_sided() + q);
    e.efc_J[J + k] = 1;
    close(J);
    e.nf++;
  }
  for (int q = 0; q < z.nlim; q++) {
    const int s = d.lim_list[q], j = m.limit_jntid[s / 2];
    if (at(d.lim_D, s) == 0) continue;
    const size_t J = add(kRowLimit, j, at(d.lim_pos, s), m.jnt_margin[j], 0, at(d.lim_R, s), d.lim_KBIP, 4 * s, at(d.lim_aref, s),
                         z.limits() + q);
    e.efc_J[J + m.jnt_dofadr[j]] = s % 2 ? -1 : 1;
    close(J);
    e.nl++;
  }

  std::vector<int> slot_of(size_t(kContactRows) * ncon, -1);
  for (int s = 0; s < z.nslot; s++)
    if (d.slot_src(s, lane) >= 0) slot_of[d.slot_src(s, lane)] = s;
  for (int c = 0; c < ncon && c < contact_sources(m, d); c++) {
    const int pair = d.con_pair(c, lane), leaf1 = d.con_leaf1(c, lane), leaf2 = d.con_leaf2(c, lane);
    for (int r = 0; r < d.con_nrow(c, lane); r++) {
      if (!r) e.con_efc_address[c] = e.nefc;
      const int src = kContactRows * c + r;
      const size_t J = add(m.pair_dim[pair] == 1 ? kRowFrictionless : kRowPyramidal, c, at(d.con_dist, c), m.pair_margin[pair], 0,
                           at(d.con_R, c), d.con_KBIP, 4 * c, at(d.con_row, 10 * src + 9), slot_of[src]);
      for (int k = 0; k < m.nv; k++) {
        const bool moves1 = leaf1 >= 0 && has_dof(m.dof_subtreenum, leaf1, k),
                   moves2 = leaf2 >= 0 && has_dof(m.dof_subtreenum, leaf2, k);
        if (moves1 == moves2) continue;
        double along = 0;
        for (int i = 0; i < 3; i++)
          along += at(d.con_row, 10 * src + (moves2 ? 3 : 6) + i) * at(d.cdof, 6 * k + i) +
                   at(d.con_row, 10 * src + i) * at(d.cdof, 6 * k + 3 + i);
        e.efc_J[J + k] = moves2 ? along : -along;
      }
      close(J);
    }
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
