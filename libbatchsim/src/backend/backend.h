// What a stage sees of the machine: the backend B, its Real and Mask, rows of memory and the team that shares a tile.
//
//   B                a tile of worlds        Real                 a team
//   cuda             1 world                 float or double      64 threads of a block
//   packs            W worlds                pack<T, W>           one thread; sync() is empty
//   exact            1 world                 double               one thread
//   check            1 world                 double, watched      64 virtual lanes, one after another
//
// int and bool are the same for all worlds of a tile; Real and Mask differ, use select, any and lanes.
// Write `Real x = d.f[i]`, never `auto x`: on check d.f[i] is a watched reference.
#pragma once

#include "math/real.h"
#include "model/enums.h"
#ifndef __CUDACC__
#include "math/pack.h"
#endif

#include <cstddef>

namespace batchsim {
inline namespace BS_ISA {

// a row of T: a pointer that knows how to be sliced
template <class T>
struct Row {
  using element = T;
  T* __restrict p;
  BS_FN T& operator[](int i) const { return p[i]; }
  BS_FN Row operator+(ptrdiff_t i) const { return {p + i}; }
};

// integers of each lane, [n][W]
template <int W>
struct LaneRow {
  using element = int;
  int* __restrict p;
  BS_FN int& operator()(int i, int lane) const { return p[i * W + lane]; }
};

// ---- one thread works a whole tile
template <class T>
struct Exact {
  using Real = T;
  using Scalar = T;
  using Mask = bool;
  static constexpr int width = 1;
  static constexpr int block = 4;  // columns that one member of the team works at once, in registers
  static constexpr int chunk = 8;  // geom pairs staged at once
  using RealRow = Row<Real>;
  using IntRow = Row<int>;
  using LaneIntRow = LaneRow<1>;
  static Mask from_bits(unsigned bits) { return bits & 1; }
  // one lane's value, as memory outside a stage sees it
  static T get(RealRow row, int i, int lane) { return reinterpret_cast<const T*>(row.p)[i * width + lane]; }
  static void set(RealRow row, int i, int lane, T x) { reinterpret_cast<T*>(row.p)[i * width + lane] = x; }
  static int& at(LaneIntRow row, int i, int lane) { return row.p[i * width + lane]; }
};

#ifndef __CUDACC__
template <class T, int W>
struct Packs {
  using Real = pack<T, W>;
  using Scalar = T;
  using Mask = mask<T, W>;
  static constexpr int width = W;
  static constexpr int block = 8;
  static constexpr int chunk = 8;
  using RealRow = Row<Real>;
  using IntRow = Row<int>;
  using LaneIntRow = LaneRow<W>;
  static Mask from_bits(unsigned bits) { return Mask::from_bits(bits); }
  // one lane's value, as memory outside a stage sees it
  static T get(RealRow row, int i, int lane) { return reinterpret_cast<const T*>(row.p)[i * width + lane]; }
  static void set(RealRow row, int i, int lane, T x) { reinterpret_cast<T*>(row.p)[i * width + lane] = x; }
  static int& at(LaneIntRow row, int i, int lane) { return row.p[i * width + lane]; }
};
#endif

BS_FN int min_int(int a, int b) { return a < b ? a : b; }
BS_FN int max_int(int a, int b) { return a < b ? b : a; }

template <class B>
struct Team;

struct Count {  // range of a single thread
  int i, n;
  struct Iterator {
    int i;
    BS_FN int operator*() const { return i; }
    BS_FN void operator++() { i++; }
    BS_FN bool operator!=(Iterator e) const { return i < e.i; }
  };
  BS_FN Iterator begin() const { return {i}; }
  BS_FN Iterator end() const { return {n}; }
};

// the verbs of a team; this one has a single member
template <class B>
struct SoloTeam {
  using Real = typename B::Real;

  // shares the indices a ... b-1 out over the members
  Count range(int a, int b) const { return {a, b}; }
  // ends a phase: what was written before is seen by all members after
  void sync() const {}
  // true for one member, for the length of the if
  bool leader() const { return true; }
  // sum, largest value of f(i) over a ... b-1, in a fixed order; every member gets it
  template <class F>
  Real sum(int a, int b, F f) const {
    Real s = 0;
    for (int i = a; i < b; i++) s += f(i);
    return s;
  }
  template <class F>
  Real max(int a, int b, F f) const {
    Real s = 0;
    for (int i = a; i < b; i++) s = batchsim::max(s, Real(f(i)));
    return s;
  }
  // whether f(i) holds for some i
  template <class F>
  bool any(int a, int b, F f) const {
    bool r = false;
    for (int i = a; i < b; i++) r |= bool(f(i));
    return r;
  }
  // the lanes in which f(i) holds for some i
  template <class F>
  typename B::Mask any_lane(int a, int b, F f) const {
    typename B::Mask r = B::from_bits(0);
    for (int i = a; i < b; i++) r = r | f(i);
    return r;
  }
  // out = the i of a ... b-1 for which f(i) holds, ascending; returns how many; a barrier on both sides
  template <class F>
  int filter(typename B::IntRow out, int a, int b, F f) const {
    int n = 0;
    for (int i = a; i < b; i++)
      if (f(i)) out[n++] = i;
    return n;
  }
};
template <class T>
struct Team<Exact<T>> : SoloTeam<Exact<T>> {};
#ifndef __CUDACC__
template <class T, int W>
struct Team<Packs<T, W>> : SoloTeam<Packs<T, W>> {};
#endif

}  // namespace BS_ISA
}  // namespace batchsim
