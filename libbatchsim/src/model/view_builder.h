// ModelView from FlatModel: the arrays converted to the backend's scalar, in one block of memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/flat.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

// owns the arrays on the host; view() points into them
template <class B>
class HostModel {
 public:
  using Scalar = typename B::Scalar;

  explicit HostModel(const FlatModel& f) {
#define X(name, doc) v_.name = f.name;
    BS_MODEL_SIZES(X)
#undef X
    v_.nbodylevel = f.nbodylevel;
    v_.nfreebody = f.nfreebody;

    // all reserved first, so that pointers stay; each starts at a multiple of 16 bytes, and an empty one has something behind it
    size_t nint = 0, nreal = 0;
#define X(name, rows, cols, doc) nint += f.name.size() + 4;
    BS_MODEL_INTS(X)
#undef X
#define X(name, rows, cols, doc) nreal += f.name.size() + 1;
    BS_MODEL_REALS(X)
#undef X
    ints_.reserve(nint);
    reals_.reserve(nreal);
#define X(name, rows, cols, doc)                           \
  v_.name = ints_.data() + ints_.size();                   \
  ints_.insert(ints_.end(), f.name.begin(), f.name.end()); \
  ints_.resize(ints_.size() / 4 * 4 + 4);
    BS_MODEL_INTS(X)
#undef X
#define X(name, rows, cols, doc)                          \
  v_.name = reals_.data() + reals_.size();                \
  for (double x : f.name) reals_.push_back(to_scalar(x)); \
  reals_.push_back(0);
    BS_MODEL_REALS(X)
#undef X
  }
  HostModel(const HostModel&) = delete;

  const ModelView<B>& view() const { return v_; }
  const std::vector<int>& ints() const { return ints_; }
  const std::vector<Scalar>& reals() const { return reals_; }

 private:
  // a range of +-1e100 means none: it must not become infinite, as differences of infinities are NaN
  static Scalar to_scalar(double x) {
    constexpr double most = std::numeric_limits<Scalar>::max();
    return static_cast<Scalar>(std::isfinite(x) ? std::clamp(x, -most, most) : x);
  }

  ModelView<B> v_;
  std::vector<int> ints_;
  std::vector<Scalar> reals_;
};

}  // namespace BS_ISA
}  // namespace batchsim
