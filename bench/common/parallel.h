// Worlds shared out over threads, for MuJoCo's side of a comparison.
#pragma once

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/cpu/pool.h"
#include "common/mj_ptr.h"

namespace batchsim::tools {

inline int thread_count(int nthread) { return nthread > 0 ? nthread : std::max(1u, std::thread::hardware_concurrency()); }

// an mjData a thread; fn(world, data) may throw
class MjWorkers {
 public:
  MjWorkers(const mjModel* m, int nthread) : pool_(thread_count(nthread)) {
    for (int i = 0; i < pool_.size(); i++) data_.push_back(make_data(m));
  }
  template <class F>
  void run(int nworld, F fn) {
    std::exception_ptr error;
    std::mutex mutex;
    pool_.run(nworld, [&](int world, int thread) {
      try {
        fn(world, data_[thread].get());
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    });
    if (error) std::rethrow_exception(error);
  }

 private:
  Pool pool_;
  std::vector<DataPtr> data_;
};

}  // namespace batchsim::tools
