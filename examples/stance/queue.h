// Work on a device in the order in which it is given: a stream of it, graphs that are captured once and launched again, and times.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace stance {

/// A piece of work that is the same each time.
class Graph {
 public:
  virtual ~Graph() = default;
  /// Does `work`; in CUDA captures it the first time, and launches what was captured.
  virtual void run(const std::function<void()>& work) = 0;
};

class Queue {
 public:
  virtual ~Queue() = default;
  virtual void* stream() const = 0;  ///< cudaStream_t; null on the CPU
  /// graph false: the work is called each time, also in CUDA
  virtual std::unique_ptr<Graph> make_graph(bool graph) = 0;
  /// Marks a moment; the seconds between two of them can be read after the work was waited for.
  virtual void mark(int which) = 0;
  virtual double seconds(int from, int to) = 0;
  static constexpr int kMarks = 3;
};

/// Throws batchsim::Error if there is no such device.
std::unique_ptr<Queue> make_queue(const std::string& device);

}  // namespace stance
