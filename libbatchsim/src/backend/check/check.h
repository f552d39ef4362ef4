// The checking backend: 64 virtual lanes, one after another; finds two lanes on one element within a phase.
#pragma once

#include <memory>

#include "backend/cpu/cpu.h"

namespace batchsim {

std::unique_ptr<Engine> make_check(const FlatModel& m, const EngineOptions& o);

}  // namespace batchsim
