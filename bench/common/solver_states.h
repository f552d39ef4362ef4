// States on which the constraint solver is compared with MuJoCo's, and MuJoCo's own stages as its input.
//
//   stand   settled, then pushed by up to 0.2 m/s, targets jittered by 0.04 rad, 1 to 48 steps later: some feet in the air
//   gentle  the same with a tenth of the push and the jitter
//   heap    limp, dropped from 1.2 m in a random attitude, 3 s of falling and some steps
#pragma once

#include <mujoco/mujoco.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/flat.h"
#include "model/segment.h"

namespace batchsim {

struct SolverState {
  std::vector<double> qpos, qvel, ctrl, warm;
};

// a model without actuator forces is limp
inline void make_limp(mjModel* m) {
  for (int i = 0; i < m->nu * mjNGAIN; i++) m->actuator_gainprm[i] = 0;
  for (int i = 0; i < m->nu * mjNBIAS; i++) m->actuator_biasprm[i] = 0;
}

inline SolverState save_state(const mjModel* m, const mjData* d) {
  return {{d->qpos, d->qpos + m->nq},
          {d->qvel, d->qvel + m->nv},
          {d->ctrl, d->ctrl + m->nu},
          {d->qacc_warmstart, d->qacc_warmstart + m->nv}};
}

inline void load_state(const mjModel* m, mjData* d, const SolverState& s) {
  mj_resetData(m, d);
  mju_copy(d->qpos, s.qpos.data(), m->nq);
  mju_copy(d->qvel, s.qvel.data(), m->nv);
  mju_copy(d->ctrl, s.ctrl.data(), m->nu);
  mju_copy(d->qacc_warmstart, s.warm.data(), m->nv);
}

// for position servos: targets are qpos0 plus noise
inline void set_targets(const mjModel* m, mjData* d, const std::vector<double>& noise) {
  for (int a = 0; a < m->nu; a++) d->ctrl[a] = m->qpos0[m->jnt_qposadr[m->actuator_trnid[2 * a]]] + noise[a];
}

// m becomes limp if the situation is a heap
inline std::vector<SolverState> solver_states(mjModel* m, const std::string& situation, int n, unsigned seed = 1) {
  const bool heap = situation == "heap";
  const double size = situation == "gentle" ? 0.1 : 1;
  if (heap) make_limp(m);
  mjData* d = mj_makeData(m);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> normal;
  std::vector<double> noise(m->nu, 0.0);
  if (!heap)
    for (int i = 0; i < 1000; i++) set_targets(m, d, noise), mj_step(m, d);
  const SolverState base = save_state(m, d);

  std::vector<SolverState> states;
  for (int w = 0; w < n; w++) {
    mj_resetData(m, d);
    mju_copy(d->qpos, base.qpos.data(), m->nq);
    noise.assign(m->nu, 0.0);
    int steps = 1 + random() % 48;
    if (heap) {
      steps += 600;
      d->qpos[2] = 1.2;
      for (int i = 3; i < 7; i++) d->qpos[i] = normal(random);
      mju_normalize4(d->qpos + 3);
      for (int j = 1; j < m->njnt; j++) {
        const double u = 0.5 * (1 + uniform(random));
        d->qpos[m->jnt_qposadr[j]] = 0.3 * (m->jnt_range[2 * j] * (1 - u) + m->jnt_range[2 * j + 1] * u);
      }
    } else {
      for (int i = 0; i < 6; i++) d->qvel[i] = i == 2 ? 0 : 0.2 * size * uniform(random);
    }
    for (int i = 0; i < steps; i++) {
      if (!heap && i % 4 == 0) {
        for (double& x : noise) x = 0.8 * x + 0.04 * size * normal(random);
        set_targets(m, d, noise);
      }
      mj_step(m, d);
    }
    states.push_back(save_state(m, d));
  }
  mj_deleteData(d);
  return states;
}

// MuJoCo's stages up to the solver
inline void before_solver(const mjModel* m, mjData* d) {
  mj_fwdPosition(m, d);
  mj_fwdVelocity(m, d);
  mj_fwdActuation(m, d);
  mj_fwdAcceleration(m, d);
}

// what the solver's stages read, from MuJoCo, for one world; doubles in our layout
struct SolverInput {
  std::vector<double> qpos, qvel, cvel, subtree_com, cinert, cdof, M, qacc_smooth, qfrc_smooth, qacc_warmstart, con_dist, con_pos,
      con_frame;
  std::vector<int> con_pair;
};

inline SolverInput solver_input(const mjModel* m, const FlatModel& f, const mjData* d) {
  const auto copy = [](const mjtNum* p, int n) { return std::vector<double>(p, p + n); };
  SolverInput in{copy(d->qpos, m->nq),
                 copy(d->qvel, m->nv),
                 copy(d->cvel, 6 * m->nbody),
                 copy(d->subtree_com, 3 * m->nbody),
                 copy(d->cinert, 10 * m->nbody),
                 copy(d->cdof, 6 * m->nv),
                 {},
                 copy(d->qacc_smooth, m->nv),
                 copy(d->qfrc_smooth, m->nv),
                 copy(d->qacc_warmstart, m->nv),
                 {},
                 {},
                 {},
                 {}};
  in.M.assign(f.nM, 0.0);
  for (int k = 0; k < m->nv; k++)
    for (int a = 0; a < m->M_rownnz[k]; a++)
      in.M[f.M_rowadr[k] + kQuad * f.dof_depth[m->M_colind[m->M_rowadr[k] + a]]] = d->M[m->M_rowadr[k] + a];
  std::map<std::pair<int, int>, int> pair_of;
  for (int p = 0; p < f.npair; p++) pair_of[{f.pair_geom1[p], f.pair_geom2[p]}] = p;
  for (int c = 0; c < d->ncon; c++) {
    const mjContact& con = d->contact[c];
    in.con_pair.push_back(pair_of.at({con.geom[0], con.geom[1]}));
    in.con_dist.push_back(con.dist);
    in.con_pos.insert(in.con_pos.end(), con.pos, con.pos + 3);
    in.con_frame.insert(in.con_frame.end(), con.frame, con.frame + 9);
  }
  return in;
}

}  // namespace batchsim
