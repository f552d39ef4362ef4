// Status bits of a world, and what counts as a bad number.
#pragma once

#include "batchsim/status.h"
#include "math/spatial.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

template <class R>
BS_FN R clip(R x, R lo, R hi) {
  return min(max(x, lo), hi);
}

// mju_isBad: not a number, or beyond mjMAXVAL
template <class R>
BS_FN auto is_bad(R x) {
  return !(abs(x) <= R(1e10));
}

// set a status bit of the lanes in mask
template <class B>
BS_FN void raise(Team<B> t, const StateView<B>& d, unsigned bit, typename B::Mask mask) {
  if (auto lead = t.leader())
    for (int l : lanes(mask)) d.status(0, l) = d.status(0, l) | int(bit);
}

}  // namespace BS_ISA
}  // namespace batchsim
