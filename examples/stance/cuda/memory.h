// Arrays in device memory.
#pragma once

#include <vector>

#include "backend/cuda/runtime.h"

namespace stance {

template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(size_t n) : memory_(n * sizeof(T)), n_(n) {}
  explicit DeviceArray(const std::vector<T>& v) : DeviceArray(v.size()) { write(v.data(), v.size()); }
  T* get() const { return reinterpret_cast<T*>(memory_.get()); }
  size_t size() const { return n_; }
  void zero() {
    if (n_) BS_CUDA(cudaMemset(get(), 0, n_ * sizeof(T)));
  }
  void write(const T* from, size_t n) {
    if (n) BS_CUDA(cudaMemcpy(get(), from, n * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> read(size_t n) const {
    std::vector<T> v(n);
    if (n) BS_CUDA(cudaMemcpy(v.data(), get(), n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
  std::vector<T> read() const { return read(n_); }

 private:
  batchsim::DeviceMemory memory_;
  size_t n_ = 0;
};

/// A value that the device copies to the host without a wait of its own.
template <class T>
class Pinned {
 public:
  Pinned() { BS_CUDA(cudaMallocHost(&p_, sizeof(T))); }
  ~Pinned() { cudaFreeHost(p_); }
  Pinned(const Pinned&) = delete;
  /// Waits for the copy.
  T read(const T* device, cudaStream_t stream) {
    BS_CUDA(cudaMemcpyAsync(p_, device, sizeof(T), cudaMemcpyDeviceToHost, stream));
    BS_CUDA(cudaStreamSynchronize(stream));
    return *static_cast<T*>(p_);
  }

 private:
  void* p_ = nullptr;
};

}  // namespace stance
