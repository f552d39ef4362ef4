// The flat model: one table from which the host arrays, the view that kernels see and the documentation come.
//
// Names without remark are mjModel's, meaning included; `ours` marks derived ones. Reals are compiled to the batch's precision.
#pragma once

// tables: a field a line
// clang-format off

// X(name, doc): sizes and options, the same for all worlds
#define BS_MODEL_SIZES(X)                                                        \
  X(nq, "generalised coordinates")                                               \
  X(nv, "degrees of freedom")                                                    \
  X(nu, "controls")                                                              \
  X(na, "activations")                                                           \
  X(nbody, "bodies, world included")                                             \
  X(njnt, "joints")                                                              \
  X(ngeom, "geoms")                                                              \
  X(nsite, "sites")                                                              \
  X(nsensor, "sensors")                                                          \
  X(nsensordata, "sensor values")                                                \
  X(nkey, "keyframes")                                                           \
  X(nM, "ours: entries of M in panels (kernels/panel.h)")                        \
  X(npair, "ours: candidate geom pairs after all filters")                       \
  X(nseg, "ours: segments, runs of up to four DoFs of one unbranched chain")     \
  X(ncol, "ours: columns of all panels; nM is four times as many")               \
  X(ncolumn, "ours: columns without padding, right-hand sides too")              \
  X(nheight, "ours: heights of the segment tree, leaves are height 0")           \
  X(nseglevel, "ours: levels of the segment tree, roots are level 0")            \
  X(nbackstep, "ours: steps of a team on the way back from the roots")           \
  X(ntask, "ours: tasks of a team that factors M")                               \
  X(npart, "ours: most partial sums of a height")                                \
  X(nchain, "ours: DoFs of the longest chain")                                   \
  X(nfric, "ours: DoFs with friction loss")                                      \
  X(nlimit, "ours: joints with a limit")                                         \
  X(integrator, "mjtIntegrator")                                                 \
  X(disableflags, "mjtDisableBit")                                               \
  X(iterations, "solver iterations at most")                                     \
  X(ls_iterations, "line search evaluations at most")                            \
  X(has_damping, "ours: some DoF has damping")

// X(name, rows, cols, doc): integers
#define BS_MODEL_INTS(X)                                                         \
  X(body_parentid, nbody, 1, "")                                                 \
  X(body_rootid, nbody, 1, "")                                                   \
  X(body_weldid, nbody, 1, "")                                                   \
  X(body_jntnum, nbody, 1, "")                                                   \
  X(body_jntadr, nbody, 1, "-1: none")                                           \
  X(body_dofnum, nbody, 1, "")                                                   \
  X(body_dofadr, nbody, 1, "-1: none")                                           \
  X(body_lastdof, nbody, 1, "ours: deepest DoF that moves the body, -1: static") \
  X(body_level, nbody, 1, "ours: depth in the body tree, world 0")               \
  X(body_order, nbody, 1, "ours: bodies sorted by level")                        \
  X(body_leveladr, nbodylevel1, 1, "ours: start of each level in body_order")    \
  X(body_childadr, nbody1, 1, "ours: start of each body's children in body_child; last entry their number") \
  X(body_child, nchild, 1, "ours: children of all bodies")                       \
  X(body_subtreenum, nbody, 1, "ours: bodies of the subtree, itself included; they are contiguous") \
  X(jnt_type, njnt, 1, "mjtJoint")                                               \
  X(jnt_qposadr, njnt, 1, "")                                                    \
  X(jnt_dofadr, njnt, 1, "")                                                     \
  X(jnt_bodyid, njnt, 1, "")                                                     \
  X(jnt_limited, njnt, 1, "")                                                    \
  X(jnt_actfrclimited, njnt, 1, "")                                              \
  X(limit_jntid, nlimit, 1, "ours: the joints with a limit")                     \
  X(fric_dofid, nfric, 1, "ours: the DoFs with friction loss")                   \
  X(free_jntid, nfreebody, 1, "ours: free joints of standalone bodies (mj_isFreeBody)") \
  X(dof_bodyid, nv, 1, "")                                                       \
  X(dof_jntid, nv, 1, "")                                                        \
  X(dof_parentid, nv, 1, "-1: none")                                             \
  X(dof_depth, nv, 1, "ours: number of ancestors; entry (k, j) of M is M_rowadr[k] + 4 dof_depth[j]") \
  X(dof_subtreenum, nv, 1, "ours: descendants of i are i + 1 ... i + dof_subtreenum[i]") \
  X(dof_seg, nv, 1, "ours: segment")                                             \
  X(dof_rhs, nv, 1, "ours: place in the panels of its right-hand side")         \
  X(M_rowadr, nv, 1, "ours: start of each row of M; its entries are four apart") \
  X(M_coladr, nv, 1, "ours: the row's first column in M_colind")                 \
  X(M_colind, ncol, 1, "ours: DoF of each panel column, ancestors in depth order, then the segment; -1: padding") \
  X(segment, nseg, 4, "ours: Segment of model/segment.h")                                   \
  X(seg_dof, nseg, 1, "ours: first DoF")                                         \
  X(seg_size, nseg, 1, "ours: DoFs")                                             \
  X(seg_order, nseg, 1, "ours: segments by height, leaves first")                \
  X(col_seg, ncol, 1, "ours: segment of each panel column")                      \
  X(column, ncolumn, 2, "ours: ColumnPlace of model/segment.h")                  \
  X(height_segadr, nheight1, 1, "ours: start of each height in seg_order")       \
  X(height, nheight1, 4, "ours: Height of model/segment.h, and its end")         \
  X(task, ntask, 4, "ours: GatherTask of model/segment.h")                       \
  X(back_step, nbackstep, 4, "ours: BackStep of model/segment.h")                \
  X(level_stepadr, nseglevel1, 1, "ours: start of each level in back_step")      \
  X(geom_type, ngeom, 1, "mjtGeom")                                              \
  X(geom_bodyid, ngeom, 1, "")                                                   \
  X(site_bodyid, nsite, 1, "")                                                   \
  X(site_type, nsite, 1, "mjtGeom")                                              \
  X(dof_actadr, nv1, 1, "ours: start of each DoF's actuators in dof_actid")      \
  X(dof_actid, nu, 1, "ours: actuators by the DoF that they drive")              \
  X(actuator_jntid, nu, 1, "ours: joint of the transmission")                    \
  X(actuator_ctrllimited, nu, 1, "")                                             \
  X(actuator_forcelimited, nu, 1, "")                                            \
  X(actuator_biastype, nu, 1, "mjtBias: none or affine")                         \
  X(actuator_gaintype, nu, 1, "mjtGain: fixed or affine")                        \
  X(actuator_disabled, nu, 1, "ours: its group is disabled")                     \
  X(pair_geom1, npair, 1, "ours: candidate pairs in MuJoCo's contact order; types ascending") \
  X(pair_geom2, npair, 1, "")                                                    \
  X(pair_func, npair, 1, "ours: collision function (collision/driver.h)")        \
  X(pair_dim, npair, 1, "contact dimensionality after mixing")                   \
  X(pair_body1, npair, 1, "ours: body of geom1")                                 \
  X(pair_body2, npair, 1, "ours: body of geom2")                                 \
  X(sensor_type, nsensor, 1, "mjtSensor")                                        \
  X(sensor_objtype, nsensor, 1, "mjtObj")                                        \
  X(sensor_objid, nsensor, 1, "")                                                \
  X(sensor_reftype, nsensor, 1, "")                                              \
  X(sensor_refid, nsensor, 1, "")                                                \
  X(sensor_adr, nsensor, 1, "")                                                  \
  X(sensor_dim, nsensor, 1, "")

// X(name, rows, cols, doc): reals
#define BS_MODEL_REALS(X)                                                        \
  X(timestep, one, 1, "s")                                                       \
  X(gravity, one, 3, "m/s^2")                                                    \
  X(tolerance, one, 1, "solver tolerance")                                       \
  X(meaninertia, one, 1, "mjModel.stat.meaninertia")                             \
  X(qpos0, nq, 1, "")                                                            \
  X(qpos_spring, nq, 1, "")                                                      \
  X(body_pos, nbody, 3, "m")                                                     \
  X(body_quat, nbody, 4, "")                                                     \
  X(body_ipos, nbody, 3, "m")                                                    \
  X(body_iquat, nbody, 4, "")                                                    \
  X(body_mass, nbody, 1, "kg")                                                   \
  X(body_subtreemass, nbody, 1, "kg")                                            \
  X(body_inertia, nbody, 3, "kg m^2")                                            \
  X(body_invweight0, nbody, 2, "1/kg, 1/(kg m^2)")                               \
  X(jnt_pos, njnt, 3, "m")                                                       \
  X(jnt_axis, njnt, 3, "")                                                       \
  X(jnt_stiffness, njnt, 1, "N m/rad")                                           \
  X(jnt_range, njnt, 2, "rad")                                                   \
  X(jnt_margin, njnt, 1, "rad")                                                  \
  X(jnt_actfrcrange, njnt, 2, "N m")                                             \
  X(jnt_solref, njnt, 2, "")                                                     \
  X(jnt_solimp, njnt, 5, "")                                                     \
  X(dof_armature, nv, 1, "kg m^2")                                               \
  X(dof_damping, nv, 1, "N m s/rad")                                             \
  X(dof_frictionloss, nv, 1, "N m")                                              \
  X(dof_solref, nv, 2, "friction loss")                                          \
  X(dof_solimp, nv, 5, "friction loss")                                          \
  X(dof_invweight0, nv, 1, "")                                                   \
  X(geom_size, ngeom, 3, "m")                                                    \
  X(geom_pos, ngeom, 3, "m")                                                     \
  X(geom_quat, ngeom, 4, "")                                                     \
  X(geom_rbound, ngeom, 1, "m; 0: plane")                                        \
  X(site_pos, nsite, 3, "m")                                                     \
  X(site_quat, nsite, 4, "")                                                     \
  X(site_size, nsite, 3, "m")                                                    \
  X(actuator_gear, nu, 1, "first component")                                     \
  X(actuator_ctrlrange, nu, 2, "")                                               \
  X(actuator_forcerange, nu, 2, "N or N m")                                      \
  X(actuator_gainprm, nu, 3, "")                                                 \
  X(actuator_biasprm, nu, 3, "")                                                 \
  X(pair_margin, npair, 1, "m; margin after mixing")                             \
  X(pair_gap, npair, 1, "m; gap after mixing")                                   \
  X(pair_friction, npair, 5, "after mixing")                                     \
  X(pair_solref, npair, 2, "after mixing")                                       \
  X(pair_solreffriction, npair, 2, "after mixing")                               \
  X(pair_solimp, npair, 5, "after mixing")                                       \
  X(pair_invweight, npair, 2, "ours: translational and rotational inverse weight of both bodies together") \
  X(sensor_cutoff, nsensor, 1, "")                                               \
  X(key_time, nkey, 1, "s")                                                      \
  X(key_qpos, nkey, nq, "")                                                      \
  X(key_qvel, nkey, nv, "")                                                      \
  X(key_ctrl, nkey, nu, "")
