// What MuJoCo says while many worlds step: each warning once on stderr, and no MUJOCO_LOG.TXT in the user's folder.
#pragma once

namespace batchsim::tools {

/// For the whole program, from the call on. An error of MuJoCo's ends it with exit code 3, as by itself it would with 1.
void tell_mujoco_warnings_once();

}  // namespace batchsim::tools
