// Loading of models by MuJoCo, so that bad input ends in an Error and nowhere else.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>
#include <vector>

namespace batchsim {

struct DeleteModel {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
};

struct LoadedModel {
  std::unique_ptr<mjModel, DeleteModel> m;
  std::string source;                 // for messages
  std::vector<std::string> warnings;  // MuJoCo's
};

LoadedModel load_file(const std::string& path);
LoadedModel load_xml(const std::string& xml);
LoadedModel load_copy(const mjModel* m);

}  // namespace batchsim
