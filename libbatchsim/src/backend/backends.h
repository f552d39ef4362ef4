// The backends by name.
#pragma once

#include <memory>
#include <vector>

#include "batchsim/batch.h"
#include "world/engine.h"

namespace batchsim {

// the engine that options.device names; options are complete
std::unique_ptr<Engine> make_engine(const Model& model, const BatchOptions& options);
// the purpose whose bytes a CPU engine knows better than the estimate
inline constexpr const char* kThreadScratch = "scratch of the threads";
// bytes by purpose that it will take
std::vector<MemoryUse> estimate_memory(const Model& model, const BatchOptions& options);

}  // namespace batchsim
