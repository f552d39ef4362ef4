#include <cmath>

#include "factor/cuda_method.h"
#include "factor/dense.cuh"

namespace batchsim::tools {
namespace {

template <class T>
class DenseMethod : public CudaMethod<T> {
 public:
  explicit DenseMethod(const Problem& p)
      : CudaMethod<T>(p),
        entries_(4 * size_t(dense_quads(dense_panels(p.nv)))),
        tiles_(dense_tiles(p.nv)),
        A_(entries_ * p.nworld),
        L_(entries_ * p.nworld) {
    for (int w = 0; w < p.nworld; w++) {
      std::vector<T> a(entries_, T(0));
      p.for_entries(w, [&](int i, int j, double x) {
        a[dense_at(i, j)] = T(x);
        if (i / 4 == j / 4) a[dense_at(j, i)] = T(x);  // diagonal tiles are whole
      });
      for (int i = p.nv; i < 4 * dense_panels(p.nv); i++) a[dense_at(i, i)] = i == p.nv ? T(kRhsDiagonal) : T(1);
      A_.put(entries_ * w, a);
    }
    int device = 0, most = 0;
    BS_CUDA(cudaGetDevice(&device));
    BS_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    shared_ = dense_shared_bytes<T>(p.nv, true) <= size_t(most);
    bytes_ = dense_shared_bytes<T>(p.nv, shared_);
    if (shared_) BS_CUDA(cudaFuncSetAttribute(dense_kernel<T, true>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes_)));
  }
  std::string name() const override { return "dense"; }
  void factor(int world, double* G) override {
    const std::vector<T> l = L_.take(entries_ * world, entries_);
    for (int i = 0; i < this->p_.nv; i++)
      for (int j = 0; j <= i; j++) G[size_t(j) * this->p_.nv + i] = l[dense_at(i, j)];
  }
  double bytes() const override { return (2.0 * entries_ + 2.0 * this->p_.nv) * sizeof(T); }
  double flops() const override { return this->p_.dense_flops(); }
  std::string detail() const override { return shared_ ? "shared memory, 64 threads" : "global memory, 64 threads"; }

 protected:
  void queue() override {
    auto* const kernel = shared_ ? dense_kernel<T, true> : dense_kernel<T, false>;
    kernel<<<this->p_.nworld, 64, bytes_, this->stream_.get()>>>(this->p_.nv, tiles_.get(), A_.get(), this->b_.get(), L_.get(),
                                                                 this->x_.get());
    BS_CUDA(cudaGetLastError());
  }

 private:
  size_t entries_;
  DeviceArray<int4> tiles_;
  DeviceArray<T> A_, L_;
  bool shared_;
  size_t bytes_;
};

}  // namespace

std::unique_ptr<Method> cuda_dense(const Problem& p, bool f64) {
  if (f64) return std::make_unique<DenseMethod<double>>(p);
  return std::make_unique<DenseMethod<float>>(p);
}

}  // namespace batchsim::tools
