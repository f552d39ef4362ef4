#include "backend/cpu/pool.h"

#include <string>
#include <system_error>

#include "batchsim/error.h"

namespace batchsim {

Pool::Pool(int nthread) {
  try {
    for (int i = 1; i < nthread; i++) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error& e) {
    const size_t started = threads_.size() + 1;
    stop();  // those that run wait for work
    throw Error(Error::kCapacity, "nthread is " + std::to_string(nthread) + ", but only " + std::to_string(started) +
                                      " threads could be started (" + e.what() + "); use fewer");
  }
}

Pool::~Pool() { stop(); }

void Pool::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (auto& t : threads_) t.join();
}

void Pool::take(int thread) {
  for (int i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < n_;) (*fn_)(i, thread);
}

void Pool::run(int n, const std::function<void(int, int)>& fn) {
  if (threads_.empty() || n <= 1) {
    for (int i = 0; i < n; i++) fn(i, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    fn_ = &fn;
    n_ = n;
    next_ = 0;
    busy_ = static_cast<int>(threads_.size());
    round_++;
  }
  start_.notify_all();
  take(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void Pool::work(int thread) {
  unsigned seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take(thread);
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace batchsim
