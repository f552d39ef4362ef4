// Random numbers by counter: known answers, and moments of the normal deviates.
#include "env/random.h"

#include <cmath>

#include "catch.h"

using namespace stance;

TEST_CASE("Philox gives its authors' known answers") {
  // source kat_vectors of Random123, philox4x32 with 10 rounds
  struct {
    Words counter;
    uint32_t key[2];
    Words answer;
  } known[] = {{{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
               {{{~0u, ~0u, ~0u, ~0u}}, {~0u, ~0u}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
               {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                {0xa4093822, 0x299f31d0},
                {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}};
  for (const auto& k : known) {
    const Words w = philox(k.counter, k.key[0], k.key[1]);
    for (int i = 0; i < 4; i++) CHECK(w.v[i] == k.answer.v[i]);
  }
}

TEST_CASE("normal deviates have their moments") {
  double sum[5] = {};
  const int n = 100000;
  double neighbours = 0, before = 0;
  for (int i = 0; i < n / 4; i++) {
    const Normals<double> x = normals<double>(Stream{3, uint32_t(i), 1}.words(Purpose::kAction, 0));
    const Normals<float> f = normals<float>(Stream{3, uint32_t(i), 1}.words(Purpose::kAction, 0));
    for (int k = 0; k < 4; k++) {
      CHECK(f.v[k] == Approx(x.v[k]).margin(1e-4));
      for (int m = 1; m < 5; m++) sum[m] += std::pow(x.v[k], m) / n;
      neighbours += before * x.v[k] / n;
      before = x.v[k];
    }
  }
  CHECK(std::abs(sum[1]) < 0.02);
  CHECK(sum[2] == Approx(1).margin(0.03));
  CHECK(std::abs(sum[3]) < 0.05);
  CHECK(sum[4] == Approx(3).margin(0.15));
  CHECK(std::abs(neighbours) < 0.02);
}
