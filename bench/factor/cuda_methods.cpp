#include <cmath>

#include "factor/cuda_method.h"
#include "world/impl.h"

namespace batchsim::tools {
namespace {

// the library's, as its engine launches it: M into the batch's memory, b where the unconstrained force is
template <class T>
class TreeMethod : public CudaMethod<T> {
 public:
  explicit TreeMethod(const Problem& p)
      : CudaMethod<T>(p),
        batch_(p.model, {.nworld = p.nworld,
                         .device = "cuda",
                         .precision = sizeof(T) == 8 ? Precision::f64 : Precision::f32,
                         .nconmax = 1,
                         .njmax = 1}) {
    const FlatModel& f = p.model.flat();
    const Field M = field("M"), b = field("qfrc_smooth");
    for (int w = 0; w < p.nworld; w++) {
      std::vector<T> rows(f.nM, T(0));
      p.for_entries(w, [&](int k, int j, double x) { rows[at(k, j)] = T(x); });
      upload(M, w, rows);
      upload(b, w, std::vector<T>(p.b_of(w), p.b_of(w) + p.nv));
    }
  }
  std::string name() const override { return "tree"; }
  void factor(int world, double* G) override {
    const std::vector<T> u = download(field("qLD"), world);
    this->p_.for_entries(world, [&](int k, int j, double) {
      const double inv = u[at(k, k)];
      G[size_t(k) * this->p_.nv + j] = j == k ? 1 / std::sqrt(inv) : double(u[at(k, j)]) * std::sqrt(inv);
    });
  }
  void solution(int world, double* x) override {
    const std::vector<T> v = download(field("qacc_smooth"), world);
    std::copy(v.begin(), v.end(), x);
  }
  double bytes() const override { return (2.0 * this->p_.model.flat().nM + 2.0 * this->p_.nv) * sizeof(T); }
  double flops() const override { return this->p_.tree_flops(); }
  std::string detail() const override {
    const FactorPlan plan = batch_.impl().engine->factor_plan();
    return std::string(plan.shared ? "shared" : "global") + " memory, " + std::to_string(plan.members) + " threads";
  }

 protected:
  void queue() override { batch_.impl().engine->run({.op = Op::kFactorSolveM, .stream = this->stream_.get()}); }

 private:
  struct Field {
    T* data;
    int size;
    ptrdiff_t stride;
  };
  Field field(const char* name) const {
    Field f;
    f.data = static_cast<T*>(batch_.impl().engine->reals(name, &f.size, &f.stride));
    return f;
  }
  int at(int k, int j) const {
    const FlatModel& f = this->p_.model.flat();
    return f.M_rowadr[k] + kQuad * f.dof_depth[j];
  }
  static void upload(const Field& f, int world, const std::vector<T>& row) {
    BS_CUDA(cudaMemcpy(f.data + world * f.stride, row.data(), row.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  static std::vector<T> download(const Field& f, int world) {
    std::vector<T> row(f.size);
    BS_CUDA(cudaMemcpy(row.data(), f.data + world * f.stride, row.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return row;
  }

  Batch batch_;
};

}  // namespace

std::unique_ptr<Method> cuda_tree(const Problem& p, bool f64) {
  if (f64) return std::make_unique<TreeMethod<double>>(p);
  return std::make_unique<TreeMethod<float>>(p);
}

Methods cuda_methods(const Problem& p, bool f64, std::string& note) {
  Methods all;
  all.push_back(cuda_tree(p, f64));
  all.push_back(cuda_levels(p, f64));
  all.push_back(cuda_dense(p, f64));
  if (std::unique_ptr<Method> m = cuda_cusolver(p, f64, note)) all.push_back(std::move(m));
  return all;
}

std::string cuda_device_name() {
  int n = 0;
  if (const cudaError_t e = cudaGetDeviceCount(&n); e != cudaSuccess || !n)
    throw Error(Error::kDevice, std::string("--device cuda: no CUDA device (") + cudaGetErrorString(e) + "); it can be cpu");
  cudaDeviceProp p;
  BS_CUDA(cudaGetDeviceProperties(&p, 0));
  return p.name;
}

}  // namespace batchsim::tools
