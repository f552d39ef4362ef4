// cuSOLVER's batched Cholesky, loaded at run time: nothing links it.
#include <dlfcn.h>

#include "factor/cuda_method.h"

namespace batchsim::tools {
namespace {

struct Handle;  // cusolverDnContext
constexpr int kLower = 0;

// the few functions of libcusolver that are called here
template <class T>
struct Cusolver {
  int (*create)(Handle**);
  int (*destroy)(Handle*);
  int (*set_stream)(Handle*, cudaStream_t);
  int (*factor)(Handle*, int uplo, int n, T** A, int lda, int* info, int batch);
  int (*solve)(Handle*, int uplo, int n, int nrhs, T** A, int lda, T** B, int ldb, int* info, int batch);

  // null: why not
  const char* open() {
    void* lib = nullptr;
    for (const char* name : {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"})
      if (!lib) lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!lib) return "there is no libcusolver";
    const auto get = [&](auto& f, const char* name) {
      return f = reinterpret_cast<std::remove_reference_t<decltype(f)>>(dlsym(lib, name));
    };
    const bool d = sizeof(T) == 8;
    const bool found = get(create, "cusolverDnCreate") && get(destroy, "cusolverDnDestroy") &&
                       get(set_stream, "cusolverDnSetStream") &&
                       get(factor, d ? "cusolverDnDpotrfBatched" : "cusolverDnSpotrfBatched") &&
                       get(solve, d ? "cusolverDnDpotrsBatched" : "cusolverDnSpotrsBatched");
    return found ? nullptr : "libcusolver lacks its batched Cholesky";
  }
};

void cusolver_check(int status, const char* call) {
  if (status) throw Error(Error::kDevice, std::string(call) + " failed with status " + std::to_string(status));
}

// It factors and solves in place; the copies of M and b that it starts from are not timed.
template <class T>
class CusolverMethod : public CudaMethod<T> {
 public:
  CusolverMethod(const Problem& p, const Cusolver<T>& lib, Handle* handle)
      : CudaMethod<T>(p),
        lib_(lib),
        handle_(handle),
        entries_(size_t(p.nv) * p.nv),
        M_(entries_ * p.nworld),
        A_(entries_ * p.nworld),
        A_of_(p.nworld),
        x_of_(p.nworld),
        info_(p.nworld) {
    std::vector<T*> a(p.nworld), x(p.nworld);
    for (int w = 0; w < p.nworld; w++) {
      std::vector<T> m(entries_, T(0));
      p.for_entries(w, [&](int i, int j, double y) { m[size_t(j) * p.nv + i] = m[size_t(i) * p.nv + j] = T(y); });
      M_.put(entries_ * w, m);
      a[w] = A_.get() + entries_ * w, x[w] = this->x_.get() + size_t(w) * p.nv;
    }
    A_of_.put(0, a), x_of_.put(0, x);
    cusolver_check(lib_.set_stream(handle_, this->stream_.get()), "cusolverDnSetStream");
  }
  ~CusolverMethod() override { lib_.destroy(handle_); }
  std::string name() const override { return "cusolver"; }
  double run(int times) override {
    double seconds = 0;
    for (int i = 0; i < times; i++) {
      const cudaStream_t stream = this->stream_.get();
      BS_CUDA(cudaMemcpyAsync(A_.get(), M_.get(), A_.size() * sizeof(T), cudaMemcpyDeviceToDevice, stream));
      BS_CUDA(cudaMemcpyAsync(this->x_.get(), this->b_.get(), this->x_.size() * sizeof(T), cudaMemcpyDeviceToDevice, stream));
      seconds += this->stream_.time([&] { queue(); });
    }
    return seconds;
  }
  void factor(int world, double* G) override {
    const int n = this->p_.nv;
    const std::vector<T> a = A_.take(entries_ * world, entries_);
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) G[size_t(j) * n + i] = a[size_t(j) * n + i];
  }
  double bytes() const override { return (this->p_.nv * (this->p_.nv + 1.0) + 2.0 * this->p_.nv) * sizeof(T); }
  double flops() const override { return this->p_.dense_flops(); }

 protected:
  void queue() override {
    const int n = this->p_.nv, batch = this->p_.nworld;
    cusolver_check(lib_.factor(handle_, kLower, n, A_of_.get(), n, info_.get(), batch), "cusolverDn potrfBatched");
    cusolver_check(lib_.solve(handle_, kLower, n, 1, A_of_.get(), n, x_of_.get(), n, info_.get(), batch),
                   "cusolverDn potrsBatched");
  }

 private:
  Cusolver<T> lib_;
  Handle* handle_;
  size_t entries_;
  DeviceArray<T> M_, A_;
  DeviceArray<T*> A_of_, x_of_;
  DeviceArray<int> info_;
};

template <class T>
std::unique_ptr<Method> make(const Problem& p, std::string& note) {
  Cusolver<T> lib;
  Handle* handle = nullptr;
  const char* missing = lib.open();
  if (!missing && lib.create(&handle)) missing = "libcusolver finds no device";
  if (!missing) return std::make_unique<CusolverMethod<T>>(p, lib, handle);
  note = std::string("cusolver is left out: ") + missing;
  return nullptr;
}

}  // namespace

std::unique_ptr<Method> cuda_cusolver(const Problem& p, bool f64, std::string& note) {
  return f64 ? make<double>(p, note) : make<float>(p, note);
}

}  // namespace batchsim::tools
