// "1 world", "2 worlds": for messages.
#pragma once

#include <string>

namespace batchsim {

template <class N>
std::string counted(N n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace batchsim
