// Batches of worlds that differ, for tests: kicked and turned copies of a model's initial state, driven by a control each.
#pragma once

#include <batchsim/batchsim.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

inline batchsim::Model model_of(const std::string& name) { return batchsim::Model::from_file(BATCHSIM_MODELS "/" + name + ".xml"); }

// a number in -1 ... 1 that depends on its arguments alone
inline double noise(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;
  x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u, x ^= x >> 27, x *= 0x94d049bb133111ebu, x ^= x >> 31;
  return static_cast<double>(x >> 11) / 4503599627370496.0 - 1;
}

// world w of the batch starts as number id(w): dropped from 0.2 m, tilted, every joint and speed a little off
template <class T, class Id>
void scatter(batchsim::Batch& batch, Id id) {
  const auto qpos = batch.bind<T>("qpos"), qvel = batch.bind<T>("qvel"), ctrl = batch.bind<T>("ctrl");
  for (int w = 0; w < batch.nworld(); w++) {
    const uint64_t n = static_cast<uint64_t>(id(w));
    qpos(w, 2) += T(0.2 * std::abs(noise(n, 1)));
    for (int i = 3; i < qpos.size; i++) qpos(w, i) += T(0.1 * noise(n, 10 + i));
    for (int i = 0; i < qvel.size; i++) qvel(w, i) = T(0.5 * noise(n, 1000 + i));
    for (int i = 0; i < ctrl.size; i++) ctrl(w, i) = T(0.2 * noise(n, 2000 + i));
  }
}

// everything that is kept of a world, as bytes
template <class T>
std::vector<T> state_of(const batchsim::Batch& batch, int world) {
  std::vector<T> rows(size_t(batch.nworld()) * batch.state_size());
  batch.get_state(rows.data());
  const auto first = rows.begin() + ptrdiff_t(world) * batch.state_size();
  return {first, first + batch.state_size()};
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
