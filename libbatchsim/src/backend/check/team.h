// The checking backend B = Check and its team of 64 virtual lanes, in the order in which a CUDA block sums.
#pragma once

#include "backend/backend.h"
#include "backend/check/watch.h"

namespace batchsim {
inline namespace BS_ISA {

struct Check {
  using Real = double;
  using Scalar = double;
  using Mask = bool;
  static constexpr int width = 1;
  static constexpr int block = 1;
  static constexpr int chunk = 64;
  static constexpr int members = 64;
  using RealRow = WatchedRow<double>;
  using IntRow = WatchedRow<int>;
  using LaneIntRow = WatchedRow<int>;
  static Mask from_bits(unsigned bits) { return bits & 1; }
  static double get(RealRow row, int i, int) { return row.p[i].value; }
  static void set(RealRow row, int i, int, double x) { row.p[i].value = x; }
  static int& at(LaneIntRow row, int i, int) { return row.p[i].value; }
  // names for the reports of this thread; called before a tile is worked
  static void forget_names() { watch().names.clear(); }
  static void name(const char* field, const char* begin, const char* end) { watch().names.push_back({field, begin, end}); }
};

template <>
struct Team<Check> {
  using Real = double;
  using Where = std::source_location;

  class Range {
   public:
    Range(int a, int b, Where where) : a_(a), b_(b) { watch().where = where; }
    ~Range() { watch().lane = Watch::kNobody; }
    Range(const Range&) = delete;
    struct Iterator {
      int i, a;
      int operator*() const {
        watch().lane = (i - a) % Check::members;
        return i;
      }
      void operator++() { i++; }
      bool operator!=(Iterator e) const { return i < e.i; }
    };
    Iterator begin() const { return {a_, a_}; }
    Iterator end() const { return {b_, a_}; }

   private:
    int a_, b_;
  };
  Range range(int a, int b, Where where = Where::current()) const { return {a, b, where}; }

  void sync(Where where = Where::current()) const { watch().barrier(where); }

  class Lead {
   public:
    explicit Lead(Where where) { watch().lane = 0, watch().where = where; }
    ~Lead() { watch().lane = Watch::kNobody; }
    Lead(const Lead&) = delete;
    explicit operator bool() const { return true; }
  };
  Lead leader(Where where = Where::current()) const { return Lead(where); }

  // the reductions end with a barrier of their own, as a block's do
  template <class F>
  double sum(int a, int b, F f, Where where = Where::current()) const {
    return reduce(
        a, b, f, [](double x, double y) { return x + y; }, where);
  }
  template <class F>
  double max(int a, int b, F f, Where where = Where::current()) const {
    return reduce(
        a, b, f, [](double x, double y) { return x < y ? y : x; }, where);
  }
  template <class F>
  bool any(int a, int b, F f, Where where = Where::current()) const {
    bool r = false;
    for (int i : range(a, b, where)) r |= bool(f(i));
    watch().epoch++;
    return r;
  }
  template <class F>
  bool any_lane(int a, int b, F f, Where where = Where::current()) const {
    return any(a, b, f, where);
  }
  template <class F>
  int filter(WatchedRow<int> out, int a, int b, F f, Where where = Where::current()) const {
    std::vector<int> found;
    for (int i : range(a, b, where))
      if (f(i)) found.push_back(i);
    watch().epoch++;
    for (int k : range(0, static_cast<int>(found.size()), where)) out[k] = found[k];
    watch().epoch++;
    return static_cast<int>(found.size());
  }

 private:
  template <class F, class Combine>
  double reduce(int a, int b, F f, Combine combine, Where where) const {
    double p[Check::members] = {};
    for (int i : range(a, b, where)) p[(i - a) % Check::members] = combine(p[(i - a) % Check::members], f(i));
    watch().epoch++;
    for (int s = Check::members / 2; s > 0; s /= 2)
      for (int l = 0; l < s; l++) p[l] = combine(p[l], p[l + s]);
    return p[0];
  }
};

}  // namespace BS_ISA
}  // namespace batchsim
