// Threads that share the tiles of a call. Which thread takes which tile is left to chance; results do not depend on it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace batchsim {

class Pool {
 public:
  explicit Pool(int nthread);  // the caller's thread included
  ~Pool();
  Pool(const Pool&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  // fn(item, thread) for items 0 ... n-1; returns when all are done; fn must not throw
  void run(int n, const std::function<void(int, int)>& fn);

 private:
  void stop();
  void work(int thread);
  void take(int thread);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(int, int)>* fn_ = nullptr;
  std::atomic<int> next_{0};
  int n_ = 0, busy_ = 0;
  unsigned round_ = 0;
  bool stop_ = false;
};

}  // namespace batchsim
