// Synthetic trees, as MJCF: hinges on small capsules, with armature.
//
//   chain     one chain of 2 m
//   star      a free root with limbs of six hinges
//   humanoid  a free root with trunk, neck, two legs and two arms; what is left goes into fingers, then toes, then longer ones
//   random    each hinge hangs on a random one before it
//
// A star or humanoid of fewer than 12 DoFs hangs on a hinge instead of being free.
#pragma once

#include <string>
#include <vector>

namespace batchsim::tools {

inline constexpr int kMostDofs = 2000;

/// The names above.
const std::vector<std::string>& shape_names();
/// A model with nv DoFs. Error kInput if there is no such shape.
std::string shape_xml(const std::string& shape, int nv);

}  // namespace batchsim::tools
