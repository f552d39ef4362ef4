// ModelView and StateView: what a stage reads and writes, expanded from the tables for a backend.
#pragma once

#include "backend/backend.h"
#include "model/fields.h"
#include "world/fields.h"
#include "world/solver_fields.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
struct ModelView {
#define X(name, doc) int name;
  BS_MODEL_SIZES(X)
#undef X
  int nbodylevel, nfreebody;
#define X(name, rows, cols, doc) const int* __restrict name;
  BS_MODEL_INTS(X)
#undef X
#define X(name, rows, cols, doc) const typename B::Scalar* __restrict name;
  BS_MODEL_REALS(X)
#undef X
};

template <class B>
struct StateView {
  int nconmax, njmax;
#define X(name, size, doc) typename B::RealRow name;
  BS_STATE_FIELDS(X)
  BS_DERIVED_FIELDS(X)
  BS_CONTACT_FIELDS(X)
  BS_STAGE_FIELDS(X)
  BS_SCRATCH_FIELDS(X)
  BS_SOLVER_REALS(X)
#undef X
#define X(name, size, doc) typename B::LaneIntRow name;
  BS_STATE_INTS(X)
  BS_LANE_INTS(X)
  BS_SOLVER_LANE_INTS(X)
#undef X
#define X(name, size, doc) typename B::IntRow name;
  BS_TILE_INTS(X)
  BS_SOLVER_TILE_INTS(X)
#undef X
};

}  // namespace BS_ISA
}  // namespace batchsim
