#define BS_ISA baseline
#include "backend/cpu/engine.h"

namespace batchsim {
std::unique_ptr<Engine> make_baseline(const FlatModel& m, const EngineOptions& o) {
  return std::make_unique<CpuEngine<Packs<float, 4>>>(m, o.nworld, o.nconmax, o.njmax, o.nthread, "cpu, baseline, 4 worlds a tile");
}
}  // namespace batchsim
