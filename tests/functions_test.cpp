// Elementary functions against the standard library's in long double, over scalars and packs.
#define BS_ISA functions_test
#include "math/functions.h"

#include <cmath>
#include <limits>
#include <random>

#include "catch.h"

namespace {

using batchsim::pack;

template <class T, class R, class F, class G>
double worst_units(F ours, G theirs, T lo, T hi) {
  std::mt19937 random(1);
  std::uniform_real_distribution<T> any(lo, hi);
  double worst = 0;
  for (int i = 0; i < 200000; i++) {
    const T x = any(random);
    const long double exact = theirs(static_cast<long double>(x)), got = batchsim::lane(ours(R(x)), 0);
    const long double unit = std::numeric_limits<T>::epsilon() * std::max(std::abs(exact), 1e-30L);
    worst = std::max(worst, static_cast<double>(std::abs(got - exact) / unit));
  }
  return worst;
}

template <class T, class R>
void check_functions() {
  const auto exp = [](R x) { return batchsim::exp(x); };
  const auto log = [](R x) { return batchsim::log(x); };
  const auto asin = [](R x) { return batchsim::asin_positive(x); };
  const auto expl = [](long double x) { return std::exp(x); };
  const auto logl = [](long double x) { return std::log(x); };
  const auto asinl = [](long double x) { return std::asin(x); };
  CHECK(worst_units<T, R>(exp, expl, T(-80), T(80)) < 1);
  CHECK(worst_units<T, R>(exp, expl, T(-1e-3), T(1e-3)) < 1);
  CHECK(worst_units<T, R>(log, logl, T(1e-7), T(1)) < 1);
  CHECK(worst_units<T, R>(log, logl, T(0.9), T(1.1)) < 1);
  CHECK(worst_units<T, R>(log, logl, T(1), T(1e30)) < 1);
  CHECK(worst_units<T, R>(asin, asinl, T(0), T(1)) < 3);
  CHECK(worst_units<T, R>(asin, asinl, T(0), T(1e-3)) < 3);

  // the ends: no zero, no infinity, and what has to be exact is
  const auto at = [](R x) { return double(batchsim::lane(x, 0)); };
  CHECK(at(exp(R(0))) == 1);
  CHECK(at(exp(R(-1e4))) > 0);
  CHECK(std::isfinite(at(exp(R(1e4)))));
  CHECK(at(log(R(1))) == 0);
  CHECK(at(asin(R(0))) == 0);
  CHECK(at(asin(R(1))) == Approx(M_PI / 2));
  CHECK(at(asin(R(T(1.0000001)))) == Approx(M_PI / 2));  // rounding may leave a sine beyond 1
}

}  // namespace

TEST_CASE("exp, log and asin to a few units in the last place") {
  check_functions<float, float>();
  check_functions<double, double>();
  check_functions<float, pack<float, 4>>();
  check_functions<float, pack<float, 8>>();
}

TEST_CASE("lanes of a pack have the bits of the scalar function") {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> any(-20, 20);
  for (int i = 0; i < 10000; i++) {
    pack<float, 8> x(0);
    for (int l = 0; l < 8; l++) x.set(l, any(random));
    const pack<float, 8> e = batchsim::exp(x), g = batchsim::log(abs(x) + pack<float, 8>(1e-3f));
    for (int l = 0; l < 8; l++) {
      REQUIRE(e[l] == batchsim::exp(x[l]));
      REQUIRE(g[l] == batchsim::log(batchsim::abs(x[l]) + 1e-3f));
    }
  }
}
