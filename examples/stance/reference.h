// The reference motion: what each joint, the pelvis, the soles and the centre of mass do over a period, at every level.
#pragma once

#include <vector>

#include "body.h"

namespace stance {

/// Eight tables side by side, a row a phase and level (docs/stance.md):
/// q (nj), qd (nj), pelvis position 3, quaternion 4, linear velocity 3, angular velocity 3, soles 6, centre of mass 2.
struct Reference {
  int width = 0;            ///< 2 nj + 21
  std::vector<double> row;  ///< (levels, phases, width)

  /// First column of each table, and the end of the last.
  static std::vector<int> columns(int njoint) {
    const int n = 2 * njoint;
    return {0, njoint, n, n + 3, n + 7, n + 10, n + 13, n + 19, n + 21};
  }
};

/// Legs by inverse kinematics, all levels at once. Throws batchsim::Error if the soles cannot be reached within the joints' ranges.
Reference make_reference(const Body& body);

}  // namespace stance
