#define BS_ISA check
#define BS_FUSED  // as a GPU computes
#include "backend/check/check.h"

#include "backend/check/team.h"
#include "backend/cpu/engine.h"

namespace batchsim {
std::unique_ptr<Engine> make_check(const FlatModel& m, const EngineOptions& o) {
  return std::make_unique<CpuEngine<Check>>(m, o.nworld, o.nconmax, o.njmax, o.nthread, "check, 64 virtual lanes a world");
}
}  // namespace batchsim
