// The constraint solver's memory (kernels/make_constraint.h, solver.h); kinds as in world/fields.h.
//
// A source is what makes rows: a contact (up to kContactRows rows), a joint limit's side, a DoF with friction loss. A slot is where
// the tile keeps a row: J slots first, in which lanes put rows of contacts, then the limits that are active in some lane, then
// friction loss. J slots are sized for the worst case; memory is touched as far as it is used.
#pragma once

// tables: a field a line
// clang-format off

namespace batchsim {
inline constexpr int kContactRows = 6;  ///< most rows of a contact: pyramidal, condim 4
}

#define BS_SOLVER_REALS(X)                                                                                            \
  /* sources */                                                                                                       \
  X(con_pos_lo, 3 * z.nconmax, "what rounding left out of con_pos")                                                   \
  X(con_R, z.nconmax, "regulariser of the contact's rows")                                                            \
  X(con_D, z.nconmax, "1 / R")                                                                                        \
  X(con_KBIP, 4 * z.nconmax, "stiffness, damping, impedance and its derivative")                                      \
  X(con_row, 10 * kContactRows * z.nconmax, "a row: force direction, torque about the com of each side's tree, aref") \
  X(lim_pos, 2 * z.nlimit, "distance to the limit; lower and upper side of each joint")                               \
  X(lim_R, 2 * z.nlimit, "")                                                                                          \
  X(lim_D, 2 * z.nlimit, "0: inactive")                                                                               \
  X(lim_KBIP, 8 * z.nlimit, "")                                                                                       \
  X(lim_aref, 2 * z.nlimit, "")                                                                                       \
  X(fric_R, z.nfric, "")                                                                                              \
  X(fric_D, z.nfric, "0: dropped")                                                                                    \
  X(fric_KBIP, 4 * z.nfric, "")                                                                                       \
  X(fric_aref, z.nfric, "")                                                                                           \
  X(fric_zone, z.nfric, "half the width of the quadratic zone, R times friction loss")                                \
  /* slots */                                                                                                         \
  X(slot_row, 9 * z.njslot, "the row in each lane: direction, torques")                                               \
  X(slot_leaf1, z.njslot, "deepest DoF of the first body in each lane, -1: none")                                     \
  X(slot_leaf2, z.njslot, "of the second body")                                                                       \
  X(J, z.nJ, "Jacobian, [slot][chain of the slot's leaf]")                                                            \
  X(row_D, z.nslot, "0: empty")                                                                                       \
  X(row_aref, z.nslot, "")                                                                                            \
  X(row_work, z.nslot, "multiply-adds of a rank-one update with the lane's row")                                      \
  X(row_x, z.nslot, "J qacc - aref")                                                                                  \
  X(row_v, z.nslot, "J search")                                                                                       \
  X(row_w, z.nslot, "second derivative of the cost: D or 0")                                                          \
  X(row_dw, z.nslot, "its change")                                                                                    \
  X(row_wH, z.nslot, "the one in H")                                                                                  \
  X(row_f, z.nslot, "force")                                                                                          \
  /* Newton */                                                                                                        \
  X(H, z.nH, "M + J' diag(w) J on the tile's elimination tree")                                                       \
  X(HU, z.nH, "its factor H = L' D L: rows of U = D L below, 1 / D on the diagonal")                                  \
  X(elim_S, z.team ? z.nH : 0, "rows of D^-1/2 U, while a team factors")                                              \
  X(elim_work, z.team ? 12 * z.nv : 4 * z.nv, "factoring H")                                                          \
  X(wJ, 16 * z.nv, "some rows of J times their weights")                                                              \
  X(Ma, z.nv, "M qacc")                                                                                               \
  X(Ms, z.nv, "M search")                                                                                             \
  X(grad, z.nv, "Ma - qfrc_smooth - J' f")                                                                            \
  X(search, z.nv, "")                                                                                                 \
  X(hz, 4 * z.nv, "vectors on the way through the factor")

#define BS_SOLVER_LANE_INTS(X)                                                          \
  X(nefc, 1, "constraint rows kept")                                                    \
  X(con_nrow, z.nconmax, "rows of the contact; 0: in the gap, dropped or without DoFs") \
  X(con_leaf1, z.nconmax, "deepest DoF of the first body, -1: static")                  \
  X(con_leaf2, z.nconmax, "of the second body")                                         \
  X(con_work, z.nconmax, "multiply-adds of a rank-one update with one of its rows")     \
  X(con_next, z.nconmax, "next contact with the same leaf")                             \
  X(con_order, z.nconmax, "contacts with rows by leaf, highest first")                  \
  X(leaf_head, z.nv, "first contact with this leaf")                                    \
  X(leaf_end, z.nv + 1, "end of the leaf in con_order")                                 \
  X(slot_src, z.njslot, "kContactRows times contact plus row; -1: empty")

#define BS_SOLVER_TILE_INTS(X)                                                          \
  X(solver_n, 9, "counts of this step (kernels/solver_layout.h)")                       \
  X(elim_depth, z.nv, "elimination tree of the tile: ancestors of each DoF")            \
  X(elim_parent, z.nv, "")                                                              \
  X(elim_rowadr, z.nv + 1, "rows of H")                                                 \
  X(elim_colind, z.nH, "their columns: ancestors, then the DoF itself")                 \
  X(elim_children, z.nv, "")                                                            \
  X(elim_seg, z.nv, "segment of each DoF (kernels/panel.h)")                            \
  X(seg_dof, z.nv, "first DoF of each segment")                                         \
  X(seg_size, z.nv, "DoFs")                                                             \
  X(seg_height, z.nv, "height in the tree of segments, leaves are 0")                   \
  X(seg_order, z.nv, "segments by height")                                              \
  X(height_adr, z.nv + 1, "start of each height")                                       \
  X(height_col, z.nv + 1, "start of each height's columns")                             \
  X(seg_col, z.nv + 1, "start of the columns of seg_order")                             \
  X(seg_descadr, z.nv + 1, "start of each segment's descendants")                       \
  X(seg_desc, z.nH, "descendant segments, ascending")                                   \
  X(elim_pattern, z.nv* z.nword, "bit sets")                                            \
  X(leaf_list, z.nv, "leaves that have J slots, highest first")                         \
  X(leaf_slot, z.nv + 1, "first J slot of each of them")                                \
  X(leaf_J, z.nv, "where their part of J starts")                                       \
  X(run_slot, z.njslot + 1, "J slots in runs of one leaf")                              \
  X(run_leaf, z.njslot, "place of the run's leaf in leaf_list")                         \
  X(lim_list, 2 * z.nlimit, "sides that are active in some lane")                       \
  X(row_list, z.nslot, "slots that matter now, ascending")                              \
  X(list_leaf, z.nv + 1, "start of each leaf's part of row_list")
