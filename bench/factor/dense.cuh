// Dense Cholesky on a GPU, A = L L', and the solution with one right-hand side: a block of 64 threads a world, one launch for both.
//
// Rows lie in panels of four, the four entries of a column side by side (a quad). Panel I has its columns up to 4 I + 3 and one quad
// more, so that the same column of eight panels in a row is in different banks. The right-hand side is row n: what becomes of it is
// y = L^-1 b. Rows after it are those of the identity. The matrix is in shared memory where it fits, else worked on in place.
//
// Blocks of 16 columns. Their four tile columns one after another: a thread a row of 4 x 4 tiles, each factors the diagonal tile by
// itself. Then all 64 threads share the tiles to the right out: 16 columns at once, the sums in registers. What is still to be factored
// is kept negated, so that all that is added to it is a plain multiply-add; L comes out negated too, its diagonal negative.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/cuda/team.h"

namespace batchsim::tools {

inline constexpr double kRhsDiagonal = 1e30;  // what is left of it must stay positive

// quads before panel I, or of I panels
__host__ __device__ inline int dense_quads(int I) { return I * (2 * I + 3); }
__host__ __device__ inline int dense_panels(int n) { return n / 4 + 1; }
__host__ __device__ inline int dense_at(int i, int j) { return 4 * (dense_quads(i / 4) + j) + i % 4; }

// shared memory of a block: the vectors, with the matrix or without
template <class T>
size_t dense_shared_bytes(int n, bool matrix) {
  return (16 + 8 * size_t(dense_panels(n)) + (matrix ? 4 * size_t(dense_quads(dense_panels(n))) : 0)) * sizeof(T);
}

// the tiles by columns from the last, each from its end: its first quad, those of its row and of its column's diagonal
inline std::vector<int4> dense_tiles(int n) {
  std::vector<int4> tiles;
  const int panels = dense_panels(n);
  for (int J = panels - 1; J >= 0; J--)
    for (int I = panels - 1; I >= J; I--) tiles.push_back({dense_quads(I) + 4 * J, dense_quads(I), dense_quads(J), 0});
  return tiles;
}

template <class T>
__device__ Quad<T> quad_at(const T* p, int q) {
  return Cuda<T>::load_quad({const_cast<T*>(p)}, q);
}
template <class T>
__device__ void put_quad(T* p, int q, Quad<T> a) {
  Cuda<T>::store_quad({p}, q, a);
}

// R rows of a 4 x 4 tile, 4 or 1, by columns. q: the tile's first quad; row: of the tile, if R is 1
template <class T, int R>
struct Rows4 {
  T v[4][R];

  __device__ static Rows4 at(const T* L, int q, int row) {
    Rows4 a;
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if constexpr (R == 4) {
        const Quad<T> c = quad_at(L, q + j);
        for (int i = 0; i < 4; i++) a.v[j][i] = c.v[i];
      } else {
        a.v[j][0] = L[4 * (q + j) + row];
      }
    }
    return a;
  }
  __device__ void put(T* L, int q, int row) const {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if constexpr (R == 4)
        put_quad(L, q + j, Quad<T>{{v[j][0], v[j][1], v[j][2], v[j][3]}});
      else
        L[4 * (q + j) + row] = v[j][0];
    }
  }
  // += x y'
  __device__ void add(const T (&x)[R], const Quad<T>& y) {
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int i = 0; i < R; i++) v[j][i] = fma(x[i], y.v[j], v[j][i]);
  }
};

// the factor of a diagonal tile: below the diagonal, and s, minus the inverse of its diagonal
template <class T>
struct Corner {
  T l10, l20, l30, l21, l31, l32;
  Quad<T> s;

  // of the tile at quad q
  __device__ Corner(const T* L, int q) {
    const Quad<T> c0 = quad_at(L, q), c1 = quad_at(L, q + 1), c2 = quad_at(L, q + 2), c3 = quad_at(L, q + 3);
    s.v[0] = rsqrt(-c0.v[0]);
    l10 = c0.v[1] * s.v[0], l20 = c0.v[2] * s.v[0], l30 = c0.v[3] * s.v[0];
    s.v[1] = rsqrt(-fma(l10, l10, c1.v[1]));
    l21 = fma(l20, l10, c1.v[2]) * s.v[1], l31 = fma(l30, l10, c1.v[3]) * s.v[1];
    s.v[2] = rsqrt(-fma(l21, l21, fma(l20, l20, c2.v[2])));
    l32 = fma(l31, l21, fma(l30, l20, c2.v[3])) * s.v[2];
    s.v[3] = rsqrt(-fma(l32, l32, fma(l31, l31, fma(l30, l30, c3.v[3]))));
  }
  // that has been factored
  __device__ Corner(const T* L, int q, Quad<T> s) : s(s) {
    const Quad<T> c0 = quad_at(L, q), c1 = quad_at(L, q + 1), c2 = quad_at(L, q + 2);
    l10 = c0.v[1], l20 = c0.v[2], l30 = c0.v[3], l21 = c1.v[2], l31 = c1.v[3], l32 = c2.v[3];
  }
  // rows of L; on the diagonal too
  template <int R>
  __device__ void solve(Rows4<T, R>& a) const {
#pragma unroll
    for (int i = 0; i < R; i++) {
      const T x0 = a.v[0][i] * s.v[0];
      const T x1 = fma(x0, l10, a.v[1][i]) * s.v[1];
      const T x2 = fma(x1, l21, fma(x0, l20, a.v[2][i])) * s.v[2];
      const T x3 = fma(x2, l32, fma(x1, l31, fma(x0, l30, a.v[3][i]))) * s.v[3];
      a.v[0][i] = x0, a.v[1][i] = x1, a.v[2][i] = x2, a.v[3][i] = x3;
    }
  }
};

// the rows x of tiles 0 ... t - 1 of a row of tiles that starts at quad `far` leave this of tile t; `diagonal`: the row of the diagonal
template <class T, int R>
__device__ Rows4<T, R> updated(const T* L, const Rows4<T, R>* x, int far, int row, int diagonal, int t) {
  Rows4<T, R> a = Rows4<T, R>::at(L, far + 4 * t, row);
#pragma unroll
  for (int k = 0; k < 4 * t; k++) a.add(x[k / 4].v[k % 4], quad_at(L, diagonal + k));
  return a;
}

// the block of four tile columns from J0 on, R rows a thread. s: (4 panels); corner: 16 reals
template <int R, class T>
__device__ void factor_block(T* L, T* s, T* corner, int panels, int J0) {
  const int me = R == 4 ? int(threadIdx.x) : int(threadIdx.x) / 4, row = int(threadIdx.x) % 4;
  const int near = dense_quads(J0 + me) + 4 * J0;
  Rows4<T, R> x[4];
#pragma unroll
  for (int t = 0; t < 4; t++) {
    if (J0 + t == panels) break;
    const bool mine = me >= t && J0 + me < panels;
    if (mine) {
      x[t] = updated(L, x, near, row, dense_quads(J0 + t) + 4 * J0, t);
      if (me == t) x[t].put(corner, 0, row);
    }
    __syncthreads();
    if (mine) {
      const Corner<T> c(corner, 0);
      c.solve(x[t]);
      x[t].put(L, near + 4 * t, row);
      if (me == t) put_quad(s, J0 + t, c.s);
    }
    __syncthreads();
  }
  if constexpr (R == 4) {
    // rows beyond 64 find the corners done
#pragma unroll 1
    for (int I = J0 + me + 64; I < panels; I += 64) {
      const int far = dense_quads(I) + 4 * J0;
#pragma unroll
      for (int t = 0; t < 4; t++) {
        const int diagonal = dense_quads(J0 + t) + 4 * J0;
        x[t] = updated(L, x, far, row, diagonal, t);
        Corner<T>(L, diagonal + 4 * t, quad_at(s, J0 + t)).solve(x[t]);
        x[t].put(L, far + 4 * t, row);
      }
    }
    if (J0 + 64 < panels) __syncthreads();
  }
}

// the tiles right of a block of 16 columns. tiles: by columns from the last, each from its end: neighbours differ in their rows
template <class T>
__device__ void update_rest(T* L, const int4* __restrict__ tiles, int panels, int J0) {
  const int n = panels - J0 - 4;
  for (int q = threadIdx.x; q < n * (n + 1) / 2; q += 64) {
    const int4 tile = tiles[q];
    const int x = tile.y + 4 * J0, y = tile.z + 4 * J0;
    Rows4<T, 4> a = Rows4<T, 4>::at(L, tile.x, 0);
#pragma unroll
    for (int k = 0; k < 16; k++) a.add(quad_at(L, x + k).v, quad_at(L, y + k));
    a.put(L, tile.x, 0);
  }
  __syncthreads();
}

// minus x = L'^-1 y in x, (4 panels), by one warp
template <class T>
__device__ void solve_back(const T* L, const T* s, T* x, int n, int panels) {
  const int lane = int(threadIdx.x);
#pragma unroll 1
  for (int j = lane; j < 4 * panels; j += 32) x[j] = j < n ? L[dense_at(n, j)] : T(0);
  __syncwarp();
  for (int I = (n - 1) / 4; I >= 0; I--) {
    const int row = dense_quads(I);
    const Quad<T> y = quad_at(x, I), d = quad_at(s, I), c0 = quad_at(L, row + 4 * I), c1 = quad_at(L, row + 4 * I + 1),
                  c2 = quad_at(L, row + 4 * I + 2);
    Quad<T> z;  // -x
    z.v[3] = y.v[3] * d.v[3];
    z.v[2] = fma(c2.v[3], z.v[3], y.v[2]) * d.v[2];
    z.v[1] = fma(c1.v[2], z.v[2], fma(c1.v[3], z.v[3], y.v[1])) * d.v[1];
    z.v[0] = fma(c0.v[1], z.v[1], fma(c0.v[2], z.v[2], fma(c0.v[3], z.v[3], y.v[0]))) * d.v[0];
    __syncwarp();
    if (lane == 0) put_quad(x, I, z);
#pragma unroll 1
    for (int j = lane; j < 4 * I; j += 32) {
      const Quad<T> q = quad_at(L, row + j);
      x[j] = fma(q.v[3], z.v[3], fma(q.v[2], z.v[2], fma(q.v[1], z.v[1], fma(q.v[0], z.v[0], x[j]))));
    }
    __syncwarp();
  }
}

// A and L: dense_quads(dense_panels(n)) quads a world, rows from n on as above but without b; b and x: (nworld, n); tiles: dense_tiles.
// Dynamic shared memory: vectors, then the matrix if Shared
template <class T, bool Shared>
__global__ void __launch_bounds__(64, sizeof(T) == 4 ? 6 : 4)
    dense_kernel(int n, const int4* __restrict__ tiles, const T* __restrict__ A, const T* __restrict__ b, T* __restrict__ L_out,
                 T* __restrict__ x_out) {
  extern __shared__ __align__(16) char shared[];
  const int panels = dense_panels(n), quads = dense_quads(panels), me = int(threadIdx.x);
  const size_t w = blockIdx.x;
  A += w * 4 * quads, L_out += w * 4 * quads, b += w * n, x_out += w * n;
  T* corner = reinterpret_cast<T*>(shared);
  T* s = corner + 16;
  T* x = s + 4 * panels;
  T* L = Shared ? x + 4 * panels : L_out;

#pragma unroll 8
  for (int q = me; q < quads; q += 64) {
    Quad<T> a = quad_at(A, q);
    for (int i = 0; i < 4; i++) a.v[i] = -a.v[i];
    put_quad(L, q, a);
  }
  __syncthreads();
#pragma unroll 1
  for (int j = me; j < n; j += 64) L[dense_at(n, j)] = -b[j];
  __syncthreads();

  for (int J0 = 0; J0 < panels; J0 += 4) {
    // the last ones have too few rows of tiles to keep a warp busy
    if (panels - J0 > 8)
      factor_block<4>(L, s, corner, panels, J0);
    else
      factor_block<1>(L, s, corner, panels, J0);
    if (J0 + 4 < panels) update_rest(L, tiles, panels, J0);
  }

  if constexpr (Shared) {
#pragma unroll 8
    for (int q = me; q < quads; q += 64) put_quad(L_out, q, quad_at(L, q));
  }
  if (me < 32) {
    solve_back(L, s, x, n, panels);
#pragma unroll 1
    for (int j = me; j < n; j += 32) x_out[j] = -x[j];
  }
}

}  // namespace batchsim::tools
