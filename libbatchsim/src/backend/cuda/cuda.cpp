#include "backend/cuda/cuda.h"

#include "backend/cuda/runtime.h"

namespace batchsim {

std::unique_ptr<Engine> make_cuda_f32(const FlatModel& m, const EngineOptions& o, int ordinal);
std::unique_ptr<Engine> make_cuda_f64(const FlatModel& m, const EngineOptions& o, int ordinal);

std::unique_ptr<Engine> make_cuda(const FlatModel& m, const EngineOptions& o, Precision precision, int ordinal) {
  int n = 0;
  const cudaError_t e = cudaGetDeviceCount(&n);
  if (e != cudaSuccess || n == 0) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    throw Error(Error::kDevice, "no CUDA device: " + std::string(cudaGetErrorString(e)) + "; the driver is for CUDA " +
                                    std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10) +
                                    ", this build needs " + std::to_string(runtime / 1000) + "." +
                                    std::to_string(runtime % 1000 / 10));
  }
  if (ordinal >= n)
    throw Error(Error::kDevice,
                "device is cuda:" + std::to_string(ordinal) + "; there are " + std::to_string(n) + " CUDA devices, from cuda:0 on");
  return precision == Precision::f32 ? make_cuda_f32(m, o, ordinal) : make_cuda_f64(m, o, ordinal);
}

}  // namespace batchsim
