// What a call throws, as a value to look into.
#pragma once

#include <string>

#include "batchsim/error.h"

struct Thrown {
  int kind = -1;  // -1: nothing was thrown
  std::string message;
  bool has(const std::string& text) const { return message.find(text) != std::string::npos; }
};

template <class Call>
Thrown error_of(Call call) {
  try {
    call();
  } catch (const batchsim::Error& e) { return {e.kind(), e.what()}; }
  return {};
}
