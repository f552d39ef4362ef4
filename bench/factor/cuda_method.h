// What the methods on a GPU share: memory, a stream, the time by events.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/cuda/runtime.h"
#include "factor/method.h"

namespace batchsim::tools {

/// n values of T in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t n) : n_(n), memory_(n * sizeof(T)) {}
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) { put(0, from); }
  T* get() const { return reinterpret_cast<T*>(memory_.get()); }
  size_t size() const { return n_; }
  void put(size_t at, const std::vector<T>& from) {
    BS_CUDA(cudaMemcpy(get() + at, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> take(size_t at, size_t n) const {
    std::vector<T> v(n);
    BS_CUDA(cudaMemcpy(v.data(), get() + at, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }

 private:
  size_t n_;
  DeviceMemory memory_;
};

class Stream {
 public:
  Stream() { BS_CUDA(cudaStreamCreate(&stream_)), BS_CUDA(cudaEventCreate(&start_)), BS_CUDA(cudaEventCreate(&stop_)); }
  Stream(const Stream&) = delete;
  ~Stream() { cudaEventDestroy(start_), cudaEventDestroy(stop_), cudaStreamDestroy(stream_); }
  cudaStream_t get() const { return stream_; }
  // seconds that the device takes for what fn queues
  template <class F>
  double time(F fn) {
    BS_CUDA(cudaEventRecord(start_, stream_));
    fn();
    BS_CUDA(cudaEventRecord(stop_, stream_));
    BS_CUDA(cudaEventSynchronize(stop_));
    float ms = 0;
    BS_CUDA(cudaEventElapsedTime(&ms, start_, stop_));
    return 1e-3 * ms;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

/// Vectors b and x, (nworld, nv).
template <class T>
class CudaMethod : public Method {
 public:
  explicit CudaMethod(const Problem& p) : p_(p), b_(size_t(p.nworld) * p.nv), x_(size_t(p.nworld) * p.nv) {
    std::vector<T> b(b_.size());
    for (int w = 0; w < p.nworld; w++) std::copy_n(p.b_of(w), p.nv, &b[size_t(w) * p.nv]);
    b_.put(0, b);
  }
  std::string precision() const override { return sizeof(T) == 8 ? "f64" : "f32"; }
  double run(int times) override {
    return stream_.time([&] {
      for (int i = 0; i < times; i++) queue();
    });
  }
  void solution(int world, double* x) override {
    const std::vector<T> v = x_.take(size_t(world) * p_.nv, p_.nv);
    std::copy(v.begin(), v.end(), x);
  }

 protected:
  virtual void queue() = 0;
  const Problem& p_;
  Stream stream_;
  DeviceArray<T> b_, x_;
};

std::unique_ptr<Method> cuda_tree(const Problem& p, bool f64);
std::unique_ptr<Method> cuda_levels(const Problem& p, bool f64);
std::unique_ptr<Method> cuda_dense(const Problem& p, bool f64);
/// Null where there is no libcusolver or it finds no device; note says why.
std::unique_ptr<Method> cuda_cusolver(const Problem& p, bool f64, std::string& note);

}  // namespace batchsim::tools
