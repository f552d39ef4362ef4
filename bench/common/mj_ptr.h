// Owners of MuJoCo's structures.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>

namespace batchsim::tools {

struct MjFree {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
  void operator()(mjData* d) const { mj_deleteData(d); }
};
using ModelPtr = std::unique_ptr<mjModel, MjFree>;
using DataPtr = std::unique_ptr<mjData, MjFree>;

inline ModelPtr copy_model(const mjModel* m) { return ModelPtr(mj_copyModel(nullptr, m)); }
inline DataPtr make_data(const mjModel* m) { return DataPtr(mj_makeData(m)); }

}  // namespace batchsim::tools
