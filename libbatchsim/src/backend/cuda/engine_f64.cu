#define BS_ISA cuda
#include "backend/cuda/engine.cuh"

namespace batchsim {
std::unique_ptr<Engine> make_cuda_f64(const FlatModel& m, const EngineOptions& o, int ordinal) {
  return std::make_unique<CudaEngine<Cuda<double>>>(m, o, ordinal);
}
}  // namespace batchsim
