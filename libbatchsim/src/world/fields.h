// The fields of a world: one table from which memory, bind(), NaN poisoning, export and the comparison with MuJoCo come.
//
// Sizes are expressions in the members of `z` (world/sizes.h). Every kind is stored [tile][n][W], W worlds of a tile side by side.
#pragma once

// tables: a field a line
// clang-format off

// X(name, size, doc): what the user owns; rows (nworld, size), kept between steps
#define BS_STATE_FIELDS(X)                                                  \
  X(time, 1, "s")                                                           \
  X(qpos, z.nq, "m, rad or quaternion")                                     \
  X(qvel, z.nv, "m/s, rad/s")                                               \
  X(act, z.na, "activation")                                                \
  X(qacc_warmstart, z.nv, "last qacc, start of the next solve")             \
  X(ctrl, z.nu, "control")                                                  \
  X(qfrc_applied, z.nv, "applied generalised force, N m")                   \
  X(xfrc_applied, 6 * z.nbody, "applied force, torque at the body's com; N, N m") \
  X(sensordata, z.nsensordata, "sensor values")                             \
  X(time_carry, 1, "what rounding left out of time (compensated sum)")      \
  X(push_force, 3, "force of a push, N")                                    \
  X(push_point, 3, "its point, from the body's com in the body's frame, m")

// X(name, size, doc): computed by forward(); compared with MuJoCo's field of the same name
#define BS_DERIVED_FIELDS(X)                                                \
  X(xpos, 3 * z.nbody, "m")                                                 \
  X(xquat, 4 * z.nbody, "")                                                 \
  X(xmat, 9 * z.nbody, "")                                                  \
  X(xipos, 3 * z.nbody, "m")                                                \
  X(ximat, 9 * z.nbody, "")                                                 \
  X(xanchor, 3 * z.njnt, "m")                                               \
  X(xaxis, 3 * z.njnt, "")                                                  \
  X(geom_xpos, 3 * z.ngeom, "m")                                            \
  X(geom_xmat, 9 * z.ngeom, "")                                             \
  X(site_xpos, 3 * z.nsite, "m")                                            \
  X(site_xmat, 9 * z.nsite, "")                                             \
  X(subtree_com, 3 * z.nbody, "m")                                          \
  X(cinert, 10 * z.nbody, "com-based body inertia: 6 rotational, 3 mass times offset, mass") \
  X(cdof, 6 * z.nv, "com-based motion axis: rotation, translation")         \
  X(crb, 10 * z.nbody, "composite inertia of the subtree")                  \
  X(M, z.nM, "joint-space inertia, in panels (kernels/panel.h)")            \
  X(qLD, z.nM, "L'DL factor of M: panels of D L below, 1 / D on the diagonal") \
  X(cvel, 6 * z.nbody, "com-based velocity: rotation, translation")         \
  X(cdof_dot, 6 * z.nv, "time derivative of cdof")                          \
  X(actuator_length, z.nu, "")                                              \
  X(actuator_velocity, z.nu, "")                                            \
  X(actuator_force, z.nu, "N or N m")                                       \
  X(qfrc_bias, z.nv, "Coriolis, centrifugal and gravity, N m")              \
  X(qfrc_spring, z.nv, "N m")                                               \
  X(qfrc_damper, z.nv, "N m")                                               \
  X(qfrc_passive, z.nv, "N m")                                              \
  X(qfrc_actuator, z.nv, "N m")                                             \
  X(qfrc_smooth, z.nv, "all but constraint forces, N m")                    \
  X(qacc_smooth, z.nv, "unconstrained acceleration")                        \
  X(qfrc_constraint, z.nv, "N m")                                           \
  X(qacc, z.nv, "acceleration")

// X(name, size, doc): contacts, slot c of world l; sizes by nconmax
#define BS_CONTACT_FIELDS(X)                                                \
  X(con_dist, z.nconmax, "m; negative: penetration")                        \
  X(con_pos, 3 * z.nconmax, "m; midway between the surfaces")               \
  X(con_frame, 9 * z.nconmax, "rows: normal from geom1 to geom2, two tangents") \
  X(con_force, z.nconmax, "normal force, for touch sensors, N")

// X(name, size, doc): integers of a world that are kept between steps, [n][W]
#define BS_STATE_INTS(X)                                                    \
  X(status, 1, "status bits, sticky (batchsim/status.h)")                      \
  X(ncon_peak, 1, "most contacts that a step asked for")                    \
  X(nefc_peak, 1, "most constraint rows that a step asked for")             \
  X(contacts_dropped, 1, "contacts dropped, all steps together")            \
  X(rows_dropped, 1, "constraint rows dropped, all steps together")         \
  X(bad_states, 1, "times that the state was bad")                          \
  X(push_body, 1, "body that is pushed")                                    \
  X(push_left, 1, "steps that the push still acts; 0: none")

// X(name, size, doc): integers of each lane within a step, [n][W]
#define BS_LANE_INTS(X)                                                     \
  X(ncon, 1, "contacts kept")                                               \
  X(con_pair, z.nconmax, "candidate pair of the contact")                   \
  X(con_slot, kContactRows * z.nconmax, "slot of each of its rows, for touch sensors") \
  X(ncon_need, 1, "contacts found, dropped ones included")                  \
  X(nefc_need, 1, "constraint rows found, dropped ones included")           \
  X(solver_niter, 1, "iterations of the constraint solver")                 \
  X(was_reset, 1, "the world was reset in this call: its inputs changed too")

// X(name, size, doc): scratch reals without a counterpart
#define BS_SCRATCH_FIELDS(X)                                                \
  X(kick_force, 3, "impulse of a kick, N s")                                \
  X(kick_point, 3, "its point, from the body's com in the body's frame, m") \
  X(xpos_lo, 3 * z.nbody, "what rounding left out of xpos")                 \
  X(xquat_lo, 4 * z.nbody, "of xquat")                                      \
  X(xanchor_lo, 3 * z.njnt, "of xanchor")                                   \
  X(geom_xpos_lo, 3 * z.ngeom, "of geom_xpos")                              \
  X(cacc, 6 * z.nbody, "rne, residual: com-based acceleration")             \
  X(cacc_lo, 6 * z.nbody, "residual: what rounding left out of it")         \
  X(cfrc, 6 * z.nbody, "rne, residual: com-based force")                    \
  X(cfrc_lo, 6 * z.nbody, "residual: what rounding left out of it")         \
  X(qHM, z.nM, "implicit integration: M - h dF/dv")                         \
  X(qH, z.nM, "its factor")                                                 \
  X(factor_work, z.nfactor, "factor_m: where a member or a team works")     \
  X(qtmp, 3 * z.nv, "vectors of the integration")

// X(name, size, doc): integers of the whole tile
#define BS_TILE_INTS(X)                                                     \
  X(cand, z.npair, "pairs whose bounding volumes meet in some world, ascending") \
  X(stage_slot, 2 * z.chunk * z.width, "collision: contact slot of each staged point, -1: none; [point][W]")

// X(name, size, doc): contact points of a chunk of pairs, before they get slots; two points a pair
#define BS_STAGE_FIELDS(X)                                                  \
  X(stage_dist, 2 * z.chunk, "m")                                           \
  X(stage_pos, 6 * z.chunk, "m")                                            \
  X(stage_pos_lo, 6 * z.chunk, "what rounding left out of stage_pos")       \
  X(stage_frame, 12 * z.chunk, "normal and first tangent as the collision function left them")
