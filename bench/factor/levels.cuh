// L' D L on the tree, a launch a level of DoFs, as MuJoCo Warp does; a thread an entry of a world. Where MuJoCo Warp scatters with
// atomics, an entry gathers here. Rows of U = D L as MuJoCo keeps them, a row a DoF, its ancestors in depth order; 1 / D by itself.
#pragma once

#include <cstddef>

namespace batchsim::tools {

// the tree, in device memory
struct LevelTree {
  int nv, nentry;
  const int* rowadr;  // (nv + 1)
  const int* dof;     // (nentry) column of each entry
  const int* below;   // (nv) number of descendants, which follow
  const int* row;     // (nentry) rows of entries by level, deepest level last
  const int* depth;   // (nentry) and the depth of their column
};

// entries first ... first + n - 1 of one level
template <class T>
__global__ void factor_level(LevelTree t, int nworld, int first, int n, const T* __restrict__ M, T* U, T* invD) {
  const int q = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (q >= nworld * n) return;
  const size_t w = q / n;
  const int e = first + q % n, k = t.row[e], dj = t.depth[e], adr = t.rowadr[k], dk = t.rowadr[k + 1] - adr - 1;
  U += w * t.nentry, invD += w * t.nv;
  T sum = M[w * t.nentry + adr + dj];
  for (int i = k + t.below[k]; i > k; i--) sum = fma(-U[t.rowadr[i] + dk] * invD[i], U[t.rowadr[i] + dj], sum);
  U[adr + dj] = sum;
  if (dj == dk) invD[k] = 1 / sum;
}

// x(k) = (b(k) - sum over descendants i:  U(i, k) x(i)) / D(k) for the DoFs of one level
template <class T>
__global__ void solve_level_up(LevelTree t, const int* __restrict__ dofs, int nworld, int n, const T* __restrict__ U,
                               const T* __restrict__ invD, const T* __restrict__ b, T* x) {
  const int q = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (q >= nworld * n) return;
  const size_t w = q / n;
  const int k = dofs[q % n], dk = t.rowadr[k + 1] - t.rowadr[k] - 1;
  U += w * t.nentry, x += w * t.nv;
  T sum = b[w * t.nv + k];
  for (int i = k + t.below[k]; i > k; i--) sum = fma(-U[t.rowadr[i] + dk], x[i], sum);
  x[k] = sum * invD[w * t.nv + k];
}

// x(k) -= (sum over ancestors j:  U(k, j) x(j)) / D(k)
template <class T>
__global__ void solve_level_down(LevelTree t, const int* __restrict__ dofs, int nworld, int n, const T* __restrict__ U,
                                 const T* __restrict__ invD, T* x) {
  const int q = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (q >= nworld * n) return;
  const size_t w = q / n;
  const int k = dofs[q % n];
  U += w * t.nentry, x += w * t.nv;
  T sum = 0;
  for (int a = t.rowadr[k]; a < t.rowadr[k + 1] - 1; a++) sum = fma(U[a], x[t.dof[a]], sum);
  x[k] = fma(-sum, invD[w * t.nv + k], x[k]);
}

}  // namespace batchsim::tools
