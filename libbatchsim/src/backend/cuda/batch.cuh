// All worlds of a batch in device memory, as a kernel gets them.
#pragma once

#include "backend/cuda/team.h"
#include "world/engine.h"
#include "world/memory.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
struct DeviceBatch {
  using T = typename B::Scalar;
  ModelView<B> m;
  Sizes z;
  TileLayout<B> layout;
  WorldRows<T> rows;
  char* memory;  // a block of layout.bytes a world
  int nworld;
  bool factor_shared;  // factor_m works in shared memory

  BS_FN StateView<B> view(size_t w) const {
    StateView<B> d = layout.view(z, memory + w * layout.bytes);
#define X(name, size, doc) d.name = {rows.name + w * (size)};
    BS_STATE_FIELDS(X)
    BS_STATE_INTS(X)
#undef X
    return d;
  }
};

}  // namespace BS_ISA
}  // namespace batchsim
