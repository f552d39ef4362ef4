// Kernels that only factor M or solve with it, one launch for all worlds: the same stage as in a step, with its work in shared memory.
#pragma once

#include "backend/cuda/batch.cuh"
#include "kernels/factor_m.h"

namespace batchsim {
inline namespace BS_ISA {

// bytes of shared memory a world: the work of factor_m, then the segments
template <class T>
size_t factor_shared_bytes(const FlatModel& m) {
  return size_t(m.nseg) * sizeof(Segment) + size_t(Sizes::team_work(m.ncol, m.nseg, m.npart)) * sizeof(T);
}

// qLD = factor of M, qacc_smooth = M^-1 qfrc_smooth
template <class B, bool Factor, bool Solve, bool Shared>
__global__ void __launch_bounds__(64) factor_kernel(const __grid_constant__ DeviceBatch<B> batch, const uint8_t* mask) {
  const size_t w = blockIdx.x;
  if (mask && !mask[w]) return;
  const ModelView<B>& m = batch.m;
  StateView<B> d = batch.view(w);
  const Team<B> t;
  const Segment* segments = reinterpret_cast<const Segment*>(m.segment);
  if constexpr (Shared) {
    extern __shared__ __align__(16) char shared[];
    d.factor_work = {reinterpret_cast<typename B::Scalar*>(shared)};
    Segment* near = reinterpret_cast<Segment*>(d.factor_work.p + batch.z.nfactor);
    BS_NO_UNROLL
    for (int s : t.range(0, m.nseg)) near[s] = segments[s];  // read after the first barrier
    segments = near;
  }
  const ModelTree<B> tree(m, segments);
  const TeamScratch<B> work = team_scratch(m, d.factor_work);
  if constexpr (Factor) {
    raise(t, d, kBadInertia, factor_team<Solve>(t, tree, d.M, d.qLD, work, d.qfrc_smooth, d.qacc_smooth));
  } else {
    for (int k : t.range(0, m.nv)) d.qacc_smooth[k] = d.qfrc_smooth[k];
    solve_team(t, tree, d.qLD, work, d.qacc_smooth);
  }
}

}  // namespace BS_ISA
}  // namespace batchsim
