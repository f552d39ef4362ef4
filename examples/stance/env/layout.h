// Where the environment's arrays lie in two blocks of memory, reals and integers, the same way on every device.
#pragma once

#include <vector>

#include "env/env.h"
#include "math/isa.h"

namespace stance {
inline namespace BS_ISA {

// what never changes: of the body, and the reference
template <class T>
struct EnvConstants {
  std::vector<int> ints;
  std::vector<T> reals;

  EnvConstants(const Body& b, const Reference& reference) {
    std::vector<int> policy_of(b.njoint, -1);
    for (int k = 0; k < b.nact(); k++) policy_of[b.policy_joint[k]] = k;
    for (const std::vector<int>& v : {b.actuator, policy_of}) ints.insert(ints.end(), v.begin(), v.end());
    for (const std::vector<double>& v : {b.lower, b.upper, b.weight, b.scale, reference.row})
      reals.insert(reals.end(), v.begin(), v.end());
  }
  // i, r: where copies of ints and reals are
  void place(EnvView<T>& e, const int* i, const T* r) const {
    e.actuator = i, e.policy_of = i + e.nj;
    e.lower = r, e.upper = r + e.nj, e.weight = r + 2 * e.nj, e.scale = r + 3 * e.nj, e.table = r + 3 * e.nj + e.nact;
  }
};

template <class T>
void describe(EnvView<T>& e, const Body& b, const EnvOptions& o) {
  e.nworld = o.nworld, e.nj = b.njoint, e.nact = b.nact(), e.nobs = b.nobs(), e.width = b.reference_width();
  e.first_only = o.first_only;
  e.pelvis = b.pelvis, e.thorax = b.thorax;
  for (int side = 0; side < 2; side++) e.foot[side] = b.foot[side], e.load[side] = b.load[side];
  e.weight_newton = T(b.weight_newton), e.shove_force = T(b.shove * o.shove_factor);
}

template <class T>
void bind(batchsim::Batch& b, EnvView<T>& e) {
  e.qpos = b.bind<T>("qpos"), e.qvel = b.bind<T>("qvel");
  e.ctrl = b.bind<T>("ctrl"), e.xfrc = b.bind<T>("xfrc_applied");
  e.sensordata = b.bind<T>("sensordata"), e.xmat = b.bind<T>("xmat");
  e.site = b.bind<T>("site_xpos"), e.subtree_com = b.bind<T>("subtree_com");
  e.batch_status = b.bind<int>("status");
  e.batch_ncon = b.bind<int>("ncon_peak"), e.batch_nefc = b.bind<int>("nefc_peak");
}

// numbers of values: what is kept from step to step comes first, then an iteration's sums and counts
struct EnvSizes {
  size_t kept_reals = 0, reals = 0, kept_ints = 0, ints = 0;

  template <class T>
  explicit EnvSizes(const EnvView<T>& e) {
    const size_t n = e.nworld;
#define X(name, size, doc) kept_reals += n * (size);
    STANCE_REALS(X)
#undef X
#define X(name, doc) kept_ints += n;
    STANCE_INTS(X)
#undef X
    reals = kept_reals, ints = kept_ints;
#define X(name, doc) reals += n;
    STANCE_SUMS(X)
#undef X
#define X(name, doc) ints += n;
    STANCE_COUNTS(X)
#undef X
  }
};

template <class T>
void place(EnvView<T>& e, T* r, int* i) {
  const size_t n = e.nworld;
#define X(name, size, doc) e.name = r, r += n * (size);
  STANCE_REALS(X)
#undef X
#define X(name, doc) e.sum_##name = r, r += n;
  STANCE_SUMS(X)
#undef X
#define X(name, doc) e.name = i, i += n;
  STANCE_INTS(X)
#undef X
#define X(name, doc) e.count_##name = i, i += n;
  STANCE_COUNTS(X)
#undef X
}

}  // namespace BS_ISA
}  // namespace stance
