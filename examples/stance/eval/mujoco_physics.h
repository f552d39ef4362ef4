// The physics of the environment by MuJoCo's own mj_step, a mjData a world.
#pragma once

#include <mujoco/mujoco.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/cpu/pool.h"
#include "env/env.h"
#include "task.h"

namespace stance {

class MujocoPhysics {
 public:
  MujocoPhysics(const Body& body, const EnvOptions& o) : m_(body.model.mjmodel()), model_(body.model), pool_(o.nthread) {
    for (int w = 0; w < o.nworld; w++) data_.emplace_back(mj_makeData(m_));
    const size_t n = o.nworld;
    qpos_.resize(n * m_->nq), qvel_.resize(n * m_->nv), ctrl_.resize(n * m_->nu), xfrc_.resize(n * 6 * m_->nbody);
    sensordata_.resize(n * m_->nsensordata), xmat_.resize(n * 9 * m_->nbody), site_.resize(n * 3 * m_->nsite);
    com_.resize(n * 3 * m_->nbody), status_.resize(n), none_.resize(n);
  }

  void bind(EnvView<double>& e) {
    const int n = static_cast<int>(data_.size());
    const auto view = [n](std::vector<double>& v) {
      const int size = static_cast<int>(v.size() / n);
      return batchsim::View<double>{v.data(), n, size, size};
    };
    e.qpos = view(qpos_), e.qvel = view(qvel_), e.ctrl = view(ctrl_), e.xfrc = view(xfrc_), e.sensordata = view(sensordata_);
    e.xmat = view(xmat_), e.site = view(site_), e.subtree_com = view(com_);
    e.batch_status = {status_.data(), n, 1, 1};
    e.batch_ncon = e.batch_nefc = {none_.data(), n, 1, 1};
  }

  void step() {
    each([&](int w) {
      mjData* d = data_[w].get();
      write(w, d);
      const int bad = bad_states(d);
      for (int s = 0; s < int(task::substeps); s++) mj_step(m_, d);
      mj_kinematics(m_, d);
      mj_comPos(m_, d);
      read(w, d);
      if (bad_states(d) != bad) status_[w] |= batchsim::kBadState;
    });
  }
  void reset(const uint8_t* mask) {
    each([&](int w) {
      if (!mask[w]) return;
      mj_resetData(m_, data_[w].get());
      status_[w] = 0;
      read(w, data_[w].get());
    });
  }
  void forward(const uint8_t* mask) {
    each([&](int w) {
      if (!mask[w]) return;
      write(w, data_[w].get());
      mj_forward(m_, data_[w].get());
      read(w, data_[w].get());
    });
  }
  void clear_status() { std::fill(status_.begin(), status_.end(), 0); }
  void export_mjdata(int world, mjData* d) const {
    mj_copyData(d, m_, data_[world].get());
    mj_forward(m_, d);
  }

  // evaluations are not interrupted and taken up again
  size_t saved_size() const { return 0; }
  void save(std::vector<double>&) const {}
  void restore(const double*) {}

 private:
  struct Delete {
    void operator()(mjData* d) const { mj_deleteData(d); }
  };

  template <class F>
  void each(F f) {
    pool_.run(static_cast<int>(data_.size()), [&](int w, int) { f(w); });
  }
  static int bad_states(const mjData* d) {
    return d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number + d->warning[mjWARN_BADQACC].number;
  }
  static void put(const std::vector<double>& rows, int w, mjtNum* to, size_t n) { std::copy_n(rows.begin() + w * n, n, to); }
  static void get(std::vector<double>& rows, int w, const mjtNum* from, size_t n) { std::copy_n(from, n, rows.begin() + w * n); }
  void write(int w, mjData* d) const {
    put(qpos_, w, d->qpos, m_->nq), put(qvel_, w, d->qvel, m_->nv), put(ctrl_, w, d->ctrl, m_->nu);
    put(xfrc_, w, d->xfrc_applied, 6 * m_->nbody);
  }
  void read(int w, const mjData* d) {
    get(qpos_, w, d->qpos, m_->nq), get(qvel_, w, d->qvel, m_->nv), get(ctrl_, w, d->ctrl, m_->nu);
    get(xfrc_, w, d->xfrc_applied, 6 * m_->nbody), get(sensordata_, w, d->sensordata, m_->nsensordata);
    get(xmat_, w, d->xmat, 9 * m_->nbody), get(site_, w, d->site_xpos, 3 * m_->nsite);
    get(com_, w, d->subtree_com, 3 * m_->nbody);
  }

  const mjModel* m_;
  batchsim::Model model_;  // keeps m_
  batchsim::Pool pool_;
  std::vector<std::unique_ptr<mjData, Delete>> data_;
  std::vector<double> qpos_, qvel_, ctrl_, xfrc_, sensordata_, xmat_, site_, com_;
  std::vector<int> status_, none_;
};

}  // namespace stance
