// What a Batch holds.
#pragma once

#include <memory>

#include "batchsim/batch.h"
#include "world/engine.h"

namespace batchsim {

struct Batch::Impl {
  Model model;
  BatchOptions options;
  std::unique_ptr<Engine> engine;
};

}  // namespace batchsim
