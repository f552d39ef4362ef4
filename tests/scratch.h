// Memory for a stage under test: every field of StateView<B> and ModelView<B>, from the tables.
//
//   Scratch<B> s(flat, nconmax, njmax);
//   collision(Team<B>{}, s.m, s.d);
//   CHECK(s.damaged() == "");            // no write past a field
//
// Reals start as NaN, integers as kPoison (those of the state, such as status, as 0), so that a stage that reads what it has not been
// given shows it. Each field is an allocation of its own, aligned to 64 bytes, with canaries on both sides.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "model/flat.h"
#include "world/sizes.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// a list of fields that a new table brings and Scratch does not know would leave null rows
template <class B>
constexpr std::size_t listed_bytes() {
  std::size_t n = 2 * sizeof(int);
#define X(name, size, doc) n += sizeof(StateView<B>::name);
  BS_STATE_FIELDS(X)
  BS_DERIVED_FIELDS(X)
  BS_CONTACT_FIELDS(X)
  BS_STAGE_FIELDS(X)
  BS_SCRATCH_FIELDS(X)
  BS_SOLVER_REALS(X)
  BS_STATE_INTS(X)
  BS_LANE_INTS(X)
  BS_SOLVER_LANE_INTS(X)
  BS_TILE_INTS(X)
  BS_SOLVER_TILE_INTS(X)
#undef X
  return n;
}

constexpr int kPoison = -0x5a5a5a5a;

// n elements of T between canaries
class GuardedBlock {
 public:
  template <class T>
  static GuardedBlock make(const char* name, std::size_t n) {
    GuardedBlock b;
    b.name_ = name;
    b.size_ = n * sizeof(T);
    const std::size_t total = kGuard + (b.size_ + kGuard - 1) / kGuard * kGuard + kGuard;
    b.memory_.reset(static_cast<unsigned char*>(std::aligned_alloc(kGuard, total)));
    std::memset(b.memory_.get(), kCanary, total);
    b.tail_ = total - kGuard - b.size_;
    return b;
  }
  template <class T>
  T* data() const {
    return reinterpret_cast<T*>(memory_.get() + kGuard);
  }
  std::size_t size() const { return size_; }
  const char* name() const { return name_; }
  bool intact() const {
    const unsigned char* p = memory_.get();
    for (std::size_t i = 0; i < kGuard; i++)
      if (p[i] != kCanary) return false;
    for (std::size_t i = 0; i < tail_; i++)
      if (p[kGuard + size_ + i] != kCanary) return false;
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr unsigned char kCanary = 0xc5;
  struct Free {
    void operator()(unsigned char* p) const { std::free(p); }
  };
  const char* name_ = "";
  std::size_t size_ = 0, tail_ = 0;
  std::unique_ptr<unsigned char, Free> memory_;
};

// x into an element of a row; one that is watched (backend/check) forgets who touched it
template <class E, class T>
void set_element(E& e, T x) {
  if constexpr (requires { e.value; }) {
    e = E{x, 0, 0, -1, -1};
  } else {
    e = x;
  }
}

template <class B>
struct Scratch {
  using Real = typename B::Real;
  using Scalar = typename B::Scalar;
  using RealElement = typename B::RealRow::element;
  using IntElement = typename B::IntRow::element;
  static_assert(sizeof(StateView<B>) == listed_bytes<B>(), "a field of StateView is in none of the lists here");

  Sizes z;
  ModelView<B> m;
  StateView<B> d;

  Scratch(const FlatModel& flat, int nconmax, int njmax) : z(flat, nconmax, njmax, B::width, B::chunk) {
#define X(name, doc) m.name = flat.name;
    BS_MODEL_SIZES(X)
#undef X
    m.nbodylevel = flat.nbodylevel;
    m.nfreebody = flat.nfreebody;
#define X(name, rows, cols, doc) m.name = model_row<int>(#name, flat.name);
    BS_MODEL_INTS(X)
#undef X
#define X(name, rows, cols, doc) m.name = model_row<Scalar>(#name, flat.name);
    BS_MODEL_REALS(X)
#undef X

    d.nconmax = nconmax;
    d.njmax = njmax;
#define X(name, size, doc) d.name = real_row(#name, size);
    BS_STATE_FIELDS(X)
    BS_DERIVED_FIELDS(X)
    BS_CONTACT_FIELDS(X)
    BS_STAGE_FIELDS(X)
    BS_SCRATCH_FIELDS(X)
    BS_SOLVER_REALS(X)
#undef X
#define X(name, size, doc) d.name = int_row<typename B::LaneIntRow>(#name, std::size_t(size) * B::width);
    BS_STATE_INTS(X)
    BS_LANE_INTS(X)
    BS_SOLVER_LANE_INTS(X)
#undef X
#define X(name, size, doc) d.name = int_row<typename B::IntRow>(#name, size);
    BS_TILE_INTS(X)
    BS_SOLVER_TILE_INTS(X)
#undef X
    poison();
  }

  // all of the state as nobody has written it
  void poison() {
    for (const GuardedBlock& b : reals_)
      for (std::size_t i = 0; i < b.size() / sizeof(RealElement); i++)
        set_element(b.data<RealElement>()[i], std::numeric_limits<Scalar>::quiet_NaN());
    for (const GuardedBlock& b : ints_)
      for (std::size_t i = 0; i < b.size() / sizeof(IntElement); i++) set_element(b.data<IntElement>()[i], kPoison);
#define X(name, size, doc) \
  for (int i = 0; i < int(size) * B::width; i++) set_element(d.name.p[i], 0);
    BS_STATE_INTS(X)
#undef X
  }

  // the first field that was written past its ends; empty: none
  std::string damaged() const {
    for (const std::vector<GuardedBlock>* list : {&model_, &reals_, &ints_})
      for (const GuardedBlock& b : *list)
        if (!b.intact()) return b.name();
    return "";
  }

 private:
  std::vector<GuardedBlock> model_, reals_, ints_;

  template <class T, class U>
  const T* model_row(const char* name, const std::vector<U>& from) {
    model_.push_back(GuardedBlock::make<T>(name, from.size()));
    T* p = model_.back().template data<T>();
    for (std::size_t i = 0; i < from.size(); i++) p[i] = static_cast<T>(from[i]);
    return p;
  }
  typename B::RealRow real_row(const char* name, std::size_t n) {
    reals_.push_back(GuardedBlock::make<RealElement>(name, n));
    return {reals_.back().template data<RealElement>()};
  }
  template <class Row>
  Row int_row(const char* name, std::size_t n) {
    ints_.push_back(GuardedBlock::make<IntElement>(name, n));
    return {ints_.back().template data<IntElement>()};
  }
};

// n doubles into lane l of a row, and back; never a race for the check backend
template <class B>
void set_row(const typename B::RealRow& row, int l, const double* from, int n) {
  for (int i = 0; i < n; i++) B::set(row, i, l, static_cast<typename B::Scalar>(from[i]));
}
// with what rounding leaves out into the row lo
template <class B>
void set_row(const typename B::RealRow& row, const typename B::RealRow& lo, int l, const double* from, int n) {
  for (int i = 0; i < n; i++) {
    const auto rounded = static_cast<typename B::Scalar>(from[i]);
    B::set(row, i, l, rounded);
    B::set(lo, i, l, static_cast<typename B::Scalar>(from[i] - rounded));
  }
}
template <class B>
std::vector<double> get_row(const typename B::RealRow& row, int l, int n, int start = 0) {
  std::vector<double> r(n);
  for (int i = 0; i < n; i++) r[i] = B::get(row, start + i, l);
  return r;
}

}  // namespace BS_ISA
}  // namespace batchsim
