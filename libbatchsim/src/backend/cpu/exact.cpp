#define BS_ISA exact
#include "backend/cpu/engine.h"

namespace batchsim {
std::unique_ptr<Engine> make_exact(const FlatModel& m, const EngineOptions& o) {
  return std::make_unique<CpuEngine<Exact<double>>>(m, o.nworld, o.nconmax, o.njmax, o.nthread, "cpu, exact");
}
}  // namespace batchsim
