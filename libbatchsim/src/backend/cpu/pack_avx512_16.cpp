#define BS_ISA avx512
#include "backend/cpu/engine.h"

namespace batchsim {
std::unique_ptr<Engine> make_avx512(const FlatModel& m, const EngineOptions& o) {
  return std::make_unique<CpuEngine<Packs<float, 16>>>(m, o.nworld, o.nconmax, o.njmax, o.nthread, "cpu, avx512, 16 worlds a tile");
}
}  // namespace batchsim
