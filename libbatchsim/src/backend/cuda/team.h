// CUDA: a tile is one world, a team the 64 threads of a block. The only place with threadIdx, shuffles and __syncthreads.
#pragma once

#include <cub/block/block_scan.cuh>

#include "backend/backend.h"
#include "kernels/panel.h"

namespace batchsim {
inline namespace BS_ISA {

template <class T>
struct Cuda {
  using Real = T;
  using Scalar = T;
  using Mask = bool;
  static constexpr int width = 1;
  static constexpr int block = 1;
  static constexpr int chunk = 64;
  static constexpr int members = 64;
  using RealRow = Row<T>;
  using IntRow = Row<int>;
  using LaneIntRow = LaneRow<1>;
  BS_FN static Mask from_bits(unsigned bits) { return bits & 1; }
  BS_FN static T get(RealRow row, int i, int) { return row.p[i]; }
  BS_FN static void set(RealRow row, int i, int, T x) { row.p[i] = x; }

  // a panel's column at once
  __device__ static Quad<T> load_quad(RealRow row, int c) {
    if constexpr (sizeof(T) == 4) {
      const float4 q = reinterpret_cast<const float4*>(row.p)[c];
      return {{q.x, q.y, q.z, q.w}};
    } else {
      const double2 a = reinterpret_cast<const double2*>(row.p)[2 * c], b = reinterpret_cast<const double2*>(row.p)[2 * c + 1];
      return {{a.x, a.y, b.x, b.y}};
    }
  }
  __device__ static void store_quad(RealRow row, int c, Quad<T> q) {
    if constexpr (sizeof(T) == 4) {
      reinterpret_cast<float4*>(row.p)[c] = make_float4(q.v[0], q.v[1], q.v[2], q.v[3]);
    } else {
      reinterpret_cast<double2*>(row.p)[2 * c] = make_double2(q.v[0], q.v[1]);
      reinterpret_cast<double2*>(row.p)[2 * c + 1] = make_double2(q.v[2], q.v[3]);
    }
  }
};

template <class T>
struct Team<Cuda<T>> {
  using B = Cuda<T>;

  struct Strided {
    int i, n;
    struct Iterator {
      int i;
      __device__ int operator*() const { return i; }
      __device__ void operator++() { i += static_cast<int>(blockDim.x); }
      __device__ bool operator!=(Iterator e) const { return i < e.i; }
    };
    __device__ Iterator begin() const { return {i}; }
    __device__ Iterator end() const { return {n}; }
  };
  __device__ Strided range(int a, int b) const { return {a + static_cast<int>(threadIdx.x), b}; }
  __device__ void sync() const { __syncthreads(); }
  __device__ bool leader() const { return threadIdx.x == 0; }

  // 64 strided partials, then a tree: 32 apart, 16, ... 1; backend/check sums in the same order
  template <class F>
  __device__ T sum(int a, int b, F f) const {
    return reduce(a, b, f, [](T x, T y) { return x + y; });
  }
  template <class F>
  __device__ T max(int a, int b, F f) const {
    return reduce(a, b, f, [](T x, T y) { return x < y ? y : x; });
  }
  template <class F>
  __device__ bool any(int a, int b, F f) const {
    bool r = false;
    for (int i : range(a, b)) r |= bool(f(i));
    return __syncthreads_or(r);
  }
  template <class F>
  __device__ bool any_lane(int a, int b, F f) const {
    return any(a, b, f);
  }
  template <class F>
  __device__ int filter(Row<int> out, int a, int b, F f) const {
    using Scan = cub::BlockScan<int, B::members>;
    __shared__ typename Scan::TempStorage storage;
    int n = 0;
    for (int start = a; start < b; start += B::members) {
      const int i = start + static_cast<int>(threadIdx.x);
      const bool keep = i < b && f(i);
      int place, total;
      Scan(storage).ExclusiveSum(keep ? 1 : 0, place, total);
      if (keep) out[n + place] = i;
      n += total;
      __syncthreads();
    }
    return n;
  }

 private:
  template <class F, class Combine>
  __device__ T reduce(int a, int b, F f, Combine combine) const {
    __shared__ T upper[B::members / 2];
    T p = 0;
    for (int i : range(a, b)) p = combine(p, T(f(i)));
    if (threadIdx.x >= 32) upper[threadIdx.x - 32] = p;
    __syncthreads();
    if (threadIdx.x < 32) {
      p = combine(p, upper[threadIdx.x]);
      for (int s = 16; s > 0; s /= 2) p = combine(p, __shfl_down_sync(~0u, p, s));
      if (threadIdx.x == 0) upper[0] = p;
    }
    __syncthreads();
    const T result = upper[0];
    __syncthreads();  // the next reduction may write upper
    return result;
  }
};

}  // namespace BS_ISA
}  // namespace batchsim
