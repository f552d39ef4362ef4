#define BS_ISA avx2
#include "backend/cpu/engine.h"

namespace batchsim {
std::unique_ptr<Engine> make_avx2(const FlatModel& m, const EngineOptions& o) {
  return std::make_unique<CpuEngine<Packs<float, 8>>>(m, o.nworld, o.nconmax, o.njmax, o.nthread, "cpu, avx2, 8 worlds a tile");
}
}  // namespace batchsim
