// What can befall a world in a step: the bits of its status word.
#pragma once

namespace batchsim {

enum Status : unsigned {
  kContactsDropped = 1,  ///< more contacts than nconmax; the last ones in MuJoCo's order are left out
  kRowsDropped = 2,      ///< more constraint rows than njmax; the last ones are left out
  kBadState = 4,         ///< qpos, qvel or qacc not finite or huge; the world was reset, or with autoreset disabled frozen until
                         ///< reset or clear_status
  kIterationLimit = 8,   ///< the constraint solver stopped at its iteration limit
  kBadInertia = 16,      ///< a pivot of the mass matrix was too small and was clamped
  kBadControl = 32       ///< a control not finite or huge counted as zero
};

}  // namespace batchsim
