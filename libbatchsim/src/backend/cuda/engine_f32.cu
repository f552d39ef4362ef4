#define BS_ISA cuda
#include "backend/cuda/engine.cuh"

namespace batchsim {
std::unique_ptr<Engine> make_cuda_f32(const FlatModel& m, const EngineOptions& o, int ordinal) {
  return std::make_unique<CudaEngine<Cuda<float>>>(m, o, ordinal);
}
}  // namespace batchsim
