// A batch's fields as doubles on the host, whatever its precision and the device its memory is on.
#pragma once

#include <string>
#include <vector>

#include "batchsim/batch.h"
#include "common/scenes.h"

namespace batchsim::tools {

class HostRows {
 public:
  explicit HostRows(Batch& batch) : batch_(batch) {}

  int size(const std::string& field);
  /// values (nworld, size), rounded to the batch's precision
  void set(const std::string& field, const std::vector<double>& values);
  std::vector<double> get(const std::string& field);
  std::vector<int> get_ints(const std::string& field);

  /// qpos, qvel, act, warm start from a scene; controls and applied forces zero, status clear.
  void start(const Scene& scene);
  /// Controls and applied forces of a step; those that have not changed are not written.
  void apply(const Scene& scene, int step);

 private:
  Batch& batch_;
  bool pushing_ = false;
};

}  // namespace batchsim::tools
