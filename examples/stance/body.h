// What the task needs to know of a body: which joints, bodies, sites and sensors of the model play which part.
#pragma once

#include <batchsim/batchsim.h>

#include <string>
#include <vector>

namespace stance {

struct Body {
  explicit Body(batchsim::Model m) : model(std::move(m)) {}

  batchsim::Model model;
  std::string name;  ///< stick, or the file's name
  bool stick = false;

  int njoint = 0;                       ///< hinges, nj; joint i has qpos 7 + i and qvel 6 + i
  std::vector<std::string> joint;       ///< (nj) names
  std::vector<int> actuator;            ///< (nj) its servo
  std::vector<double> lower, upper;     ///< (nj) range, rad
  std::vector<double> weight;           ///< (nj) in the pose and velocity terms, sum 1
  std::vector<int> policy_joint;        ///< (nact) joints that the policy moves
  std::vector<double> scale;            ///< (nact) rad a unit of action
  int pelvis = 0, thorax = 0;           ///< body ids; the thorax is shoved
  int foot[2] = {0, 0};                 ///< site ids, left and right
  int load[2] = {0, 0};                 ///< addresses of the touch sensors in sensordata
  double weight_newton = 0, shove = 0;  ///< N

  int nact() const { return static_cast<int>(policy_joint.size()); }
  int nobs() const { return 23 + 2 * njoint + nact(); }
  int reference_width() const { return 2 * njoint + 21; }
};

/// A body by name (stick, simple, muscular, in the folder of models) or by the path of an MJCF file that is built like one of them.
/// Throws batchsim::Error that names what the model lacks.
Body load_body(const std::string& name_or_path);

}  // namespace stance
