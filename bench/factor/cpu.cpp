#include "factor/cpu.h"

#include <ctime>

#include "backend/cpu/cpu.h"
#include "common/mj_ptr.h"

namespace batchsim::tools {
namespace {

// MuJoCo's own, in double, a world after another. M is MuJoCo's for that world: mjData points to it, so that nothing is copied in. One
// mjData serves all worlds, which keeps its factor in the cache
class MujocoMethod : public Method {
 public:
  explicit MujocoMethod(const Problem& p)
      : p_(p), m_(p.model.mjmodel()), d_(make_data(m_)), M_(p.mjM), x_(size_t(p.nworld) * p.nv), own_(d_->M) {}
  ~MujocoMethod() override { d_->M = own_; }
  std::string name() const override { return "mujoco"; }
  std::string precision() const override { return "f64"; }
  double run(int times) override {
    const double start = thread_seconds();
    for (int i = 0; i < times; i++)
      for (int w = 0; w < p_.nworld; w++) {
        take(w);
        mj_factorM(m_, d_.get());
        mj_solveM(m_, d_.get(), &x_[size_t(w) * p_.nv], p_.b_of(w), 1);
      }
    return thread_seconds() - start;
  }
  void factor(int world, double* G) override {
    take(world);
    mj_factorM(m_, d_.get());
    for (int k = 0; k < p_.nv; k++) {
      const int adr = m_->M_rowadr[k], n = m_->M_rownnz[k];
      const double D = d_->qLD[adr + n - 1];
      for (int a = 0; a < n; a++) G[size_t(k) * p_.nv + m_->M_colind[adr + a]] = (a < n - 1 ? d_->qLD[adr + a] : 1) * mju_sqrt(D);
    }
  }
  void solution(int world, double* x) override { mju_copy(x, &x_[size_t(world) * p_.nv], p_.nv); }
  double bytes() const override { return (2.0 * m_->nC + 2.0 * p_.nv) * sizeof(double); }
  double flops() const override { return p_.tree_flops(); }

 private:
  void take(int world) { d_->M = &M_[size_t(world % p_.ndistinct) * m_->nC]; }
  const Problem& p_;
  const mjModel* m_;
  DataPtr d_;
  std::vector<double> M_, x_;
  mjtNum* own_;
};

}  // namespace

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

Methods cpu_methods(const Problem& p, bool f64, std::string&) {
  // the library's choice, with BATCHSIM_ISA
  const int width = cpu_tile_width(Precision::f32);
  Methods all;
#ifdef BATCHSIM_X86
  if (width == 16) all = cpu_methods_avx512(p, f64);
  if (width == 8) all = cpu_methods_avx2(p, f64);
#endif
  if (width == 4) all = cpu_methods_baseline(p, f64);
  all.push_back(std::make_unique<MujocoMethod>(p));
  return all;
}

}  // namespace batchsim::tools
