// The CPU's methods for one instruction set. Tiles of B::width worlds as in a step: M, factor and vector of each tile by itself, one
// scratch for all of them. Included once by each file of an instruction set.
#pragma once

// Eigen's inline functions must not be shared between instruction sets
#define BS_JOIN2(a, b) a##_##b
#define BS_JOIN(a, b) BS_JOIN2(a, b)
#define Eigen BS_JOIN(Eigen, BS_ISA)
#include <Eigen/Cholesky>
#undef Eigen

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "factor/cpu.h"
#include "factor/dense_pack.h"
#include "kernels/factor_m.h"
#include "model/view_builder.h"
#include "world/sizes.h"

namespace batchsim {
inline namespace BS_ISA {

using tools::Method;
using tools::Problem;

// memory for n Reals a tile, zero at first; a line of the cache between tiles' rows
template <class B>
class Rows {
 public:
  using Element = typename B::RealRow::element;
  Rows(size_t n, int tiles) : stride_((n * sizeof(Element) + 127) / 64 * 64), p_(std::aligned_alloc(64, stride_ * tiles)) {
    if (!p_) throw std::bad_alloc();
    std::memset(p_, 0, stride_ * tiles);
  }
  Rows(const Rows&) = delete;
  ~Rows() { std::free(p_); }
  typename B::RealRow operator[](int tile) const { return {reinterpret_cast<Element*>(static_cast<char*>(p_) + tile * stride_)}; }

 private:
  size_t stride_;
  void* p_;
};

// what the methods on tiles share
template <class B>
class TileMethod : public Method {
 public:
  using T = typename B::Scalar;
  static constexpr int W = B::width;

  TileMethod(const Problem& p, size_t entries, size_t dofs, size_t scratch)
      : p_(p), tiles_((p.nworld + W - 1) / W), M_(entries, tiles_), L_(entries, tiles_), x_(dofs, tiles_), scratch_(scratch, 1) {}
  std::string precision() const override { return sizeof(T) == 8 ? "f64" : "f32"; }
  void solution(int world, double* x) override {
    for (int k = 0; k < p_.nv; k++) x[k] = B::get(x_[world / W], k, world % W);
  }

 protected:
  // fn(world, tile, lane); lanes beyond the last world repeat others
  template <class F>
  void for_worlds(F fn) {
    for (int w = 0; w < tiles_ * W; w++) fn(w % p_.nworld, w / W, w % W);
  }
  const Problem& p_;
  int tiles_;
  Rows<B> M_, L_, x_, scratch_;
};

// the library's
template <class B>
class TreeMethod : public TileMethod<B> {
 public:
  using Base = TileMethod<B>;
  using typename Base::T;

  TreeMethod(const Problem& p, const char* name)
      : Base(p, p.model.flat().nM, p.nv, Sizes(p.model.flat(), 1, 1, B::width, B::chunk).nfactor),
        name_(name),
        model_(p.model.flat()),
        b_(p.nv, this->tiles_) {
    const FlatModel& f = p.model.flat();
    this->for_worlds([&](int world, int tile, int lane) {
      p.for_entries(world,
                    [&](int k, int j, double m) { B::set(this->M_[tile], f.M_rowadr[k] + kQuad * f.dof_depth[j], lane, T(m)); });
      for (int k = 0; k < p.nv; k++) B::set(b_[tile], k, lane, T(p.b_of(world)[k]));
    });
  }
  std::string name() const override { return name_; }
  double run(int times) override {
    const double start = tools::thread_seconds();
    StateView<B> d{};
    d.factor_work = this->scratch_[0];
    for (int i = 0; i < times; i++)
      for (int tile = 0; tile < this->tiles_; tile++) {
        const auto b = b_[tile], x = this->x_[tile];
        factor_tree(Team<B>(), model_.view(), d, this->M_[tile], this->L_[tile]);
        for (int k = 0; k < this->p_.nv; k++) x[k] = b[k];
        solve_tree(Team<B>(), model_.view(), d, this->L_[tile], x);
      }
    return tools::thread_seconds() - start;
  }
  void factor(int world, double* G) override {
    const FlatModel& f = this->p_.model.flat();
    const int n = this->p_.nv;
    this->p_.for_entries(world, [&](int k, int j, double) {
      const auto at = [&](int c) {
        return double(B::get(this->L_[world / B::width], f.M_rowadr[k] + kQuad * f.dof_depth[c], world % B::width));
      };
      G[size_t(k) * n + j] = j == k ? 1 / std::sqrt(at(k)) : at(j) * std::sqrt(at(k));
    });
  }
  double bytes() const override { return (2.0 * this->p_.model.flat().nM + 2.0 * this->p_.nv) * sizeof(T); }
  double flops() const override { return this->p_.tree_flops(); }

 private:
  std::string name_;
  HostModel<B> model_;
  Rows<B> b_;
};

// our own dense one
template <class B, int R>
class DenseMethod : public TileMethod<B> {
 public:
  using Base = TileMethod<B>;
  using typename Base::T;

  explicit DenseMethod(const Problem& p)
      : Base(p, dense_panel(R, dense_panels(R, p.nv)), R * dense_panels(R, p.nv), 1), b_(p.nv, this->tiles_) {
    const int n = p.nv, rows = R * dense_panels(R, n);
    this->for_worlds([&](int world, int tile, int lane) {
      const auto set = [&](int i, int j, double x) { B::set(this->M_[tile], at(i, j), lane, T(x)); };
      p.for_entries(world, set);
      for (int j = 0; j < n; j++) B::set(b_[tile], j, lane, T(p.b_of(world)[j]));
      for (int i = n; i < rows; i++) set(i, i, i == n ? kRhsDiagonal : 1);
    });
  }
  std::string name() const override { return "dense"; }
  double run(int times) override {
    const double start = tools::thread_seconds();
    for (int i = 0; i < times; i++)
      for (int tile = 0; tile < this->tiles_; tile++) {
        for (int j = 0; j < this->p_.nv; j++) this->M_[tile][at(this->p_.nv, j)] = b_[tile][j];
        dense_factor<R, B>(this->p_.nv, this->M_[tile], this->L_[tile]);
        dense_solve<R, B>(this->p_.nv, this->L_[tile], this->x_[tile]);
      }
    return tools::thread_seconds() - start;
  }
  void factor(int world, double* G) override {
    const int n = this->p_.nv;
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        const double l = B::get(this->L_[world / B::width], at(i, j), world % B::width);
        G[size_t(j) * n + i] = i == j ? 1 / l : l;
      }
  }
  double bytes() const override { return (2.0 * dense_panel(R, dense_panels(R, this->p_.nv)) + 2.0 * this->p_.nv) * sizeof(T); }
  double flops() const override { return this->p_.dense_flops(); }

 private:
  static int at(int i, int j) { return dense_panel(R, i / R) + R * j + i % R; }
  Rows<B> b_;
};

// Eigen's LLT, one world after another
template <class T>
class EigenMethod : public Method {
 public:
  using Matrix = BS_JOIN(Eigen, BS_ISA)::Matrix<T, -1, -1>;
  using Vector = BS_JOIN(Eigen, BS_ISA)::Matrix<T, -1, 1>;

  explicit EigenMethod(const Problem& p) : p_(p) {
    for (int w = 0; w < p.nworld; w++) {
      Matrix& m = M_.emplace_back(Matrix::Zero(p.nv, p.nv));
      p.for_entries(w, [&](int k, int j, double x) { m(k, j) = T(x), m(j, k) = T(x); });
      Vector& b = b_.emplace_back(p.nv);
      for (int k = 0; k < p.nv; k++) b[k] = T(p.b_of(w)[k]);
      x_.push_back(b);
      llt_.emplace_back(p.nv);
    }
  }
  std::string name() const override { return "eigen"; }
  std::string precision() const override { return sizeof(T) == 8 ? "f64" : "f32"; }
  double run(int times) override {
    const double start = tools::thread_seconds();
    for (int i = 0; i < times; i++)
      for (int w = 0; w < p_.nworld; w++) {
        llt_[w].compute(M_[w]);
        x_[w] = b_[w];
        llt_[w].solveInPlace(x_[w]);
      }
    return tools::thread_seconds() - start;
  }
  void factor(int world, double* G) override {
    for (int i = 0; i < p_.nv; i++)
      for (int j = 0; j <= i; j++) G[size_t(j) * p_.nv + i] = llt_[world].matrixLLT()(i, j);
  }
  void solution(int world, double* x) override {
    for (int k = 0; k < p_.nv; k++) x[k] = x_[world][k];
  }
  double bytes() const override { return (p_.nv * (p_.nv + 1.0) + 2.0 * p_.nv) * sizeof(T); }
  double flops() const override { return p_.dense_flops(); }

 private:
  const Problem& p_;
  std::vector<Matrix> M_;
  std::vector<Vector> b_, x_;
  std::vector<BS_JOIN(Eigen, BS_ISA)::LLT<Matrix>> llt_;
};

template <class T, int W, int R>
tools::Methods methods_of(const Problem& p) {
  tools::Methods all;
  all.push_back(std::make_unique<TreeMethod<Packs<T, W>>>(p, "tree"));
  if (sizeof(T) == 8) all.push_back(std::make_unique<TreeMethod<Exact<T>>>(p, "exact"));
  all.push_back(std::make_unique<DenseMethod<Packs<T, W>, R>>(p));
  all.push_back(std::make_unique<EigenMethod<T>>(p));
  return all;
}

}  // namespace BS_ISA
}  // namespace batchsim
