// The CUDA engine.
#pragma once

#include <memory>

#include "backend/cpu/cpu.h"

namespace batchsim {

std::unique_ptr<Engine> make_cuda(const FlatModel& m, const EngineOptions& o, Precision precision, int ordinal);

}  // namespace batchsim
