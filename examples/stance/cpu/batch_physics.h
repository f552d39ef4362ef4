// The physics of the environment on the CPU: a batch.
#pragma once

#include <algorithm>
#include <vector>

#include "env/layout.h"
#include "task.h"

namespace stance {
inline namespace BS_ISA {

template <class T>
class BatchPhysics {
 public:
  BatchPhysics(const Body& body, const EnvOptions& o)
      : batch_(body.model, {.nworld = o.nworld,
                            .precision = sizeof(T) == 8 ? batchsim::Precision::f64 : batchsim::Precision::f32,
                            .nconmax = o.nconmax,
                            .njmax = o.njmax,
                            .nthread = o.nthread}) {}

  void bind(EnvView<T>& e) {
    BS_ISA::bind(batch_, e);
    inner_ = {e.sensordata, batch_.bind<T>("time_carry")};
  }

  void step() { batch_.step(int(task::substeps), batchsim::Stage::kKinematics); }
  void reset(const uint8_t* mask) { batch_.reset(-1, {.mask = mask}); }
  void forward(const uint8_t* mask) { batch_.forward({.mask = mask}); }
  void clear_status() { batch_.clear_status(); }
  void export_mjdata(int world, mjData* d) const { batch_.export_mjdata(world, d); }

  // state rows, then what they have no place for
  size_t saved_size() const {
    size_t n = batch_.state_size();
    for (const batchsim::View<T>& f : inner_) n += f.size;
    return n * batch_.nworld();
  }
  void save(std::vector<double>& to) const {
    std::vector<T> rows(size_t(batch_.nworld()) * batch_.state_size());
    batch_.get_state(rows.data());
    to.insert(to.end(), rows.begin(), rows.end());
    for (const batchsim::View<T>& f : inner_)
      for (int w = 0; w < f.nworld; w++) to.insert(to.end(), f[w], f[w] + f.size);
  }
  void restore(const double* from) {
    std::vector<T> rows(size_t(batch_.nworld()) * batch_.state_size());
    std::copy_n(from, rows.size(), rows.begin());
    from += rows.size();
    batch_.reset();
    batch_.set_state(rows.data());
    for (const batchsim::View<T>& f : inner_)
      for (int w = 0; w < f.nworld; w++, from += f.size) std::copy_n(from, f.size, f[w]);
  }

 private:
  batchsim::Batch batch_;
  std::vector<batchsim::View<T>> inner_;
};

}  // namespace BS_ISA
}  // namespace stance
