#include "common/reference.h"

#include <algorithm>
#include <cmath>

namespace batchsim::tools {

void tighten(mjModel* m) {
  m->opt.tolerance = 1e-30;
  m->opt.ls_tolerance = 1e-6;
  m->opt.iterations = 100;
  m->opt.ls_iterations = 100;
}

StateLayout::StateLayout(const mjModel* m) {
  const auto before = [&](int bit) { return mj_stateSize(m, mjSTATE_INTEGRATION & (bit - 1)); };
  size = mj_stateSize(m, mjSTATE_INTEGRATION);
  qpos = before(mjSTATE_QPOS), qvel = before(mjSTATE_QVEL), act = before(mjSTATE_ACT), warmstart = before(mjSTATE_WARMSTART);
  ctrl = before(mjSTATE_CTRL), xfrc = before(mjSTATE_XFRC_APPLIED);
}

PoseMap::PoseMap(const mjModel* m) {
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] == mjJNT_FREE) free_.push_back(m->jnt_qposadr[j]);
    if (m->jnt_type[j] == mjJNT_HINGE || m->jnt_type[j] == mjJNT_SLIDE) hinge_.push_back(m->jnt_qposadr[j]);
  }
}

PoseError PoseMap::error(const double* q, const double* ref) const {
  PoseError e;
  // not max(): a difference that is not a number must not get lost
  const auto keep = [](double& worst, double x) { worst = x <= worst ? worst : std::isnan(x) ? INFINITY : x; };
  for (int a : hinge_) keep(e.joint, std::abs(q[a] - ref[a]));
  for (int a : free_) {
    for (int i = 0; i < 3; i++) keep(e.pos, std::abs(q[a + i] - ref[a + i]));
    double x[4], y[4], less = 0, more = 0;
    mju_copy4(x, q + a + 3), mju_copy4(y, ref + a + 3);
    mju_normalize4(x), mju_normalize4(y);
    for (int i = 0; i < 4; i++) less += (x[i] - y[i]) * (x[i] - y[i]), more += (x[i] + y[i]) * (x[i] + y[i]);
    keep(e.rot, 4 * std::asin(std::min(1.0, std::sqrt(std::min(less, more)) / 2)));
    for (int i = 3; i < 7; i++)
      if (std::isnan(q[a + i])) e.rot = INFINITY;
  }
  if (hinge_.empty()) e.joint = std::max(e.pos, e.rot);
  return e;
}

void round_to_float(double* x, int n) {
  for (int i = 0; i < n; i++) x[i] = static_cast<float>(x[i]);
}
void round_state(const mjModel* m, const StateLayout& at, double* row) {
  round_to_float(row + at.qpos, m->nq);
  round_to_float(row + at.qvel, m->nv);
  round_to_float(row + at.act, m->na);
  round_to_float(row + at.warmstart, m->nv);
  round_to_float(row + at.ctrl, m->nu);
}

void set_state_row(const mjModel* m, mjData* d, const double* row) {
  mj_resetData(m, d);
  mj_setState(m, d, row, mjSTATE_INTEGRATION);
}

Reference::Reference(const mjModel* m, const Scene& scene, int nthread) : m_(m), scene_(scene), at_(m), workers_(m, nthread) {
  now_.resize(size_t(scene.nworld) * at_.size);
  const DataPtr d = make_data(m);
  for (int w = 0; w < scene.nworld; w++) {
    mj_resetData(m, d.get());
    mju_copy(d->qpos, scene.qpos.data() + size_t(w) * m->nq, m->nq);
    mju_copy(d->qvel, scene.qvel.data() + size_t(w) * m->nv, m->nv);
    mju_copy(d->act, scene.act.data() + size_t(w) * m->na, m->na);
    mju_copy(d->qacc_warmstart, scene.warmstart.data() + size_t(w) * m->nv, m->nv);
    mj_getState(m, d.get(), start(w), mjSTATE_INTEGRATION);
  }
}

void Reference::advance(int nstep, const AfterStep& after_step) {
  rows_.resize(size_t(nstep + 1) * scene_.nworld * at_.size);
  workers_.run(scene_.nworld, [&](int w, mjData* d) {
    set_state_row(m_, d, start(w));
    for (int s = 0; s < nstep; s++) {
      const int step = step_ + s;
      mju_copy(d->ctrl, scene_.ctrl_at(step, w), m_->nu);
      if (scene_.push_body) {
        double* x = d->xfrc_applied + 6 * scene_.push_body;
        mju_zero(x, 6);
        if (const double* f = scene_.push_at(step, w)) mju_copy3(x, f);
      }
      mj_getState(m_, d, &rows_[(size_t(s) * scene_.nworld + w) * at_.size], mjSTATE_INTEGRATION);
      mj_step(m_, d);
      if (after_step) after_step(w, step, d);
    }
    mj_getState(m_, d, &rows_[(size_t(nstep) * scene_.nworld + w) * at_.size], mjSTATE_INTEGRATION);
    mj_getState(m_, d, start(w), mjSTATE_INTEGRATION);
  });
  step_ += nstep;
}

}  // namespace batchsim::tools
