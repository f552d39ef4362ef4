// States some steps after the reset, feet on the floor, made by MuJoCo: those in which MuJoCo Warp's kernels were counted, too.
#pragma once

#include <vector>

#include "common/mj_ptr.h"
#include "common/random.h"

namespace batchsim::tools {

struct Standing {
  std::vector<double> qpos, qvel, act, warmstart, ctrl;  // (nworld, n)
  double ncon = 0, nefc = 0, niter = 0;                  // of a world, on average, in the last step
};

// Lowered until something touches, root kicked, constant controls about the reference pose (0.04 rad), `settle` steps.
inline Standing standing(const mjModel* m, int nworld, int settle, uint64_t seed) {
  const DataPtr d = make_data(m);
  const bool floating = m->njnt && m->jnt_type[0] == mjJNT_FREE;
  const auto servo = [&](int a) { return m->actuator_biastype[a] == mjBIAS_AFFINE && m->actuator_trntype[a] == mjTRN_JOINT; };
  const auto add = [](std::vector<double>& rows, const double* row, int n) { rows.insert(rows.end(), row, row + n); };

  Standing s;
  for (int w = 0; w < nworld; w++) {
    Random random(seed, w);
    mj_resetData(m, d.get());
    mj_forward(m, d.get());
    for (int i = 0; floating && i < 400 && !d->ncon; i++) {
      d->qpos[2] -= 0.005;
      mj_forward(m, d.get());
    }
    for (int i = 0; floating && i < 6; i++) d->qvel[i] = i == 2 ? 0 : random.uniform(-0.2, 0.2);
    for (int a = 0; a < m->nu; a++)
      d->ctrl[a] = (servo(a) ? m->qpos0[m->jnt_qposadr[m->actuator_trnid[2 * a]]] : 0) + 0.04 * random.normal();
    for (int i = 0; i < settle; i++) mj_step(m, d.get());

    add(s.qpos, d->qpos, m->nq), add(s.qvel, d->qvel, m->nv), add(s.act, d->act, m->na);
    add(s.warmstart, d->qacc_warmstart, m->nv), add(s.ctrl, d->ctrl, m->nu);
    mj_step(m, d.get());  // the step that is counted, as MuJoCo does it
    s.ncon += double(d->ncon) / nworld, s.nefc += double(d->nefc) / nworld;
    s.niter += double(d->solver_niter[0]) / nworld;
  }
  return s;
}

}  // namespace batchsim::tools
