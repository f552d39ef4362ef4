// Memory of StateView: every field of the tables as one block [tile][size][width], in one allocation.
//
// A block is laid out for `ntile` tiles: on the CPU one tile a thread, in CUDA one a world.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "world/sizes.h"
#include "world/view.h"

namespace batchsim {
inline namespace BS_ISA {

inline constexpr size_t kAlign = 64;
inline size_t aligned(size_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

template <class B>
struct TileLayout {
  // element sizes of what the three kinds of rows point to
  static constexpr size_t real = sizeof(typename B::RealRow::element);
  static constexpr size_t integer = sizeof(typename B::IntRow::element);

  size_t bytes = 0;     // a tile
  size_t contacts = 0;  // of which for contacts and their staging
  size_t rows = 0;      // for constraint rows
  // offset of each field in a tile's block, in table order
#define X(name, size, doc) size_t name = 0;
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

  explicit TileLayout(const Sizes& z) {
    const auto add = [&](size_t& offset, size_t n, size_t element) {
      offset = bytes;
      bytes += aligned((n ? n : 1) * element);
    };
#define X(name, size, doc) add(name, size_t(size), real);
    BS_STATE_FIELDS(X)
    BS_DERIVED_FIELDS(X)
    BS_SCRATCH_FIELDS(X)
    size_t mark = bytes;
    BS_CONTACT_FIELDS(X)
    BS_STAGE_FIELDS(X)
    contacts = bytes - mark;
    mark = bytes;
    BS_SOLVER_REALS(X)
#undef X
#define X(name, size, doc) add(name, size_t(size) * B::width, integer);
    BS_SOLVER_LANE_INTS(X)
#undef X
#define X(name, size, doc) add(name, size_t(size), integer);
    BS_SOLVER_TILE_INTS(X)
    rows = bytes - mark;
    BS_TILE_INTS(X)
#undef X
#define X(name, size, doc) add(name, size_t(size) * B::width, integer);
    BS_STATE_INTS(X)
    BS_LANE_INTS(X)
#undef X
  }

  // fn(name, first byte, byte after the last) of each field of a tile
  template <class F>
  void for_each(const Sizes& z, F fn) const {
#define X(name, size, doc) fn(#name, name, name + size_t(size) * real);
    BS_STATE_FIELDS(X)
    BS_DERIVED_FIELDS(X)
    BS_CONTACT_FIELDS(X)
    BS_STAGE_FIELDS(X)
    BS_SCRATCH_FIELDS(X)
    BS_SOLVER_REALS(X)
#undef X
#define X(name, size, doc) fn(#name, name, name + size_t(size) * B::width * integer);
    BS_STATE_INTS(X)
    BS_LANE_INTS(X)
    BS_SOLVER_LANE_INTS(X)
#undef X
#define X(name, size, doc) fn(#name, name, name + size_t(size) * integer);
    BS_TILE_INTS(X)
    BS_SOLVER_TILE_INTS(X)
#undef X
  }

  // the rows of a tile whose block starts at base
  BS_FN StateView<B> view(const Sizes& z, char* base) const {
    StateView<B> d;
    d.nconmax = z.nconmax;
    d.njmax = z.njmax;
#define X(name, size, doc) d.name = {reinterpret_cast<typename B::RealRow::element*>(base + name)};
    BS_STATE_FIELDS(X)
    BS_DERIVED_FIELDS(X)
    BS_CONTACT_FIELDS(X)
    BS_STAGE_FIELDS(X)
    BS_SCRATCH_FIELDS(X)
    BS_SOLVER_REALS(X)
#undef X
#define X(name, size, doc) d.name = {reinterpret_cast<typename B::IntRow::element*>(base + name)};
    BS_STATE_INTS(X)
    BS_LANE_INTS(X)
    BS_SOLVER_LANE_INTS(X)
    BS_TILE_INTS(X)
    BS_SOLVER_TILE_INTS(X)
#undef X
    return d;
  }
};

}  // namespace BS_ISA
}  // namespace batchsim
