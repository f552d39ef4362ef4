#include <cmath>

#include "factor/cuda_method.h"
#include "factor/levels.cuh"

namespace batchsim::tools {
namespace {

// entries and DoFs by level, from the roots
struct Levels {
  std::vector<int> below, row, depth, dofs, entry_adr = {0}, dof_adr = {0};

  explicit Levels(const Problem& p) : below(p.nv, 0) {
    const auto depth_of = [&](int k) { return p.rowadr[k + 1] - p.rowadr[k] - 1; };
    for (int k = p.nv - 1; k >= 0; k--)
      if (depth_of(k)) below[p.dof[p.rowadr[k + 1] - 2]] += below[k] + 1;
    for (int level = 0; int(dofs.size()) < p.nv; level++) {
      for (int k = 0; k < p.nv; k++) {
        if (depth_of(k) != level) continue;
        dofs.push_back(k);
        for (int j = 0; j <= level; j++) row.push_back(k), depth.push_back(j);
      }
      entry_adr.push_back(int(row.size())), dof_adr.push_back(int(dofs.size()));
    }
  }
  int count() const { return int(dof_adr.size()) - 1; }
};

// all launches in one graph: hosts that queue some hundred launches a step do so
template <class T>
class LevelsMethod : public CudaMethod<T> {
 public:
  explicit LevelsMethod(const Problem& p)
      : CudaMethod<T>(p),
        l_(p),
        nentry_(p.rowadr[p.nv]),
        rowadr_(p.rowadr),
        dof_(p.dof),
        below_(l_.below),
        row_(l_.row),
        depth_(l_.depth),
        dofs_(l_.dofs),
        M_(size_t(p.nworld) * nentry_),
        U_(M_.size()),
        invD_(size_t(p.nworld) * p.nv) {
    if (double(p.nworld) * nentry_ > 2e9)
      throw Error(Error::kCapacity, "--worlds " + std::to_string(p.nworld) + ": too many for a grid of one launch a level");
    for (int w = 0; w < p.nworld; w++) M_.put(size_t(w) * nentry_, std::vector<T>(p.M_of(w), p.M_of(w) + nentry_));
    const cudaStream_t stream = this->stream_.get();
    cudaGraph_t graph;
    BS_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_all(stream);
    BS_CUDA(cudaStreamEndCapture(stream, &graph));
    BS_CUDA(cudaGraphInstantiate(&launches_, graph, 0));
    BS_CUDA(cudaGraphDestroy(graph));
  }
  ~LevelsMethod() override { cudaGraphExecDestroy(launches_); }
  std::string name() const override { return "levels"; }
  void factor(int world, double* G) override {
    const std::vector<T> u = U_.take(size_t(world) * nentry_, nentry_), d = invD_.take(size_t(world) * this->p_.nv, this->p_.nv);
    for (int k = 0; k < this->p_.nv; k++)
      for (int a = this->p_.rowadr[k]; a < this->p_.rowadr[k + 1]; a++)
        G[size_t(k) * this->p_.nv + this->p_.dof[a]] = double(u[a]) * std::sqrt(double(d[k]));
  }
  double bytes() const override { return (2.0 * nentry_ + 3.0 * this->p_.nv) * sizeof(T); }
  double flops() const override { return this->p_.tree_flops(); }
  std::string detail() const override { return std::to_string(3 * l_.count() - 1) + " launches"; }

 protected:
  void queue() override { BS_CUDA(cudaGraphLaunch(launches_, this->stream_.get())); }

 private:
  void launch_all(cudaStream_t stream) {
    const int nworld = this->p_.nworld;
    const LevelTree t{this->p_.nv, nentry_, rowadr_.get(), dof_.get(), below_.get(), row_.get(), depth_.get()};
    const auto blocks = [&](int n) { return (nworld * n + 127) / 128; };
    for (int level = l_.count() - 1; level >= 0; level--) {
      const int first = l_.entry_adr[level], n = l_.entry_adr[level + 1] - first;
      factor_level<<<blocks(n), 128, 0, stream>>>(t, nworld, first, n, M_.get(), U_.get(), invD_.get());
    }
    for (int level = l_.count() - 1; level >= 0; level--) {
      const int n = l_.dof_adr[level + 1] - l_.dof_adr[level];
      solve_level_up<<<blocks(n), 128, 0, stream>>>(t, dofs_.get() + l_.dof_adr[level], nworld, n, U_.get(), invD_.get(),
                                                    this->b_.get(), this->x_.get());
    }
    for (int level = 1; level < l_.count(); level++) {
      const int n = l_.dof_adr[level + 1] - l_.dof_adr[level];
      solve_level_down<<<blocks(n), 128, 0, stream>>>(t, dofs_.get() + l_.dof_adr[level], nworld, n, U_.get(), invD_.get(),
                                                      this->x_.get());
    }
    BS_CUDA(cudaGetLastError());
  }

  Levels l_;
  int nentry_;
  DeviceArray<int> rowadr_, dof_, below_, row_, depth_, dofs_;
  DeviceArray<T> M_, U_, invD_;
  cudaGraphExec_t launches_ = nullptr;
};

}  // namespace

std::unique_ptr<Method> cuda_levels(const Problem& p, bool f64) {
  if (f64) return std::make_unique<LevelsMethod<double>>(p);
  return std::make_unique<LevelsMethod<float>>(p);
}

}  // namespace batchsim::tools
