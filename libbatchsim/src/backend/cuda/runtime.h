// Calls of the CUDA runtime, checked; device memory that frees itself.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "batchsim/error.h"

namespace batchsim {

inline void cuda_check(cudaError_t e, const char* call, const char* file, int line) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not fail the next one too
  throw Error(e == cudaErrorMemoryAllocation ? Error::kCapacity : Error::kDevice,
              std::string(call) + ": " + cudaGetErrorString(e) + " (" + file + ":" + std::to_string(line) + ")");
}
#define BS_CUDA(call) ::batchsim::cuda_check(call, #call, __FILE__, __LINE__)

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(size_t bytes) : bytes_(bytes ? bytes : 1) { BS_CUDA(cudaMalloc(&p_, bytes_)); }
  DeviceMemory(DeviceMemory&& o) noexcept : p_(std::exchange(o.p_, nullptr)), bytes_(o.bytes_) {}
  DeviceMemory& operator=(DeviceMemory&& o) noexcept {
    std::swap(p_, o.p_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~DeviceMemory() {
    if (p_) cudaFree(p_);
  }
  char* get() const { return static_cast<char*>(p_); }
  size_t bytes() const { return bytes_; }

 private:
  void* p_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace batchsim
