// The learner: its gradient, its update and its random numbers, each against another's.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "catch.h"
#include "ppo/elements.h"
#include "ppo/learner.h"

namespace {

using namespace stance;
using nlohmann::json;
using Doubles = std::vector<double>;

// what an environment might have said, whatever the actions
struct Rollout {
  int nworld, nobs, nact, horizon;
  Doubles observation;  // (horizon + 1, nworld, nobs)
  Doubles reward;       // (horizon, nworld)
  Doubles last;         // (nworld, nobs)
  std::vector<int> done, truncated_at;
};

Rollout random_rollout(int nworld, int horizon, int nobs, int nact, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return random() / 4294967296.0 * 2 - 1; };
  Rollout r{nworld, nobs, nact, horizon, {}, {}, {}, {}, {}};
  for (int i = 0; i < (horizon + 1) * nworld * nobs; i++) r.observation.push_back(3 * uniform() + i % nobs);
  for (int i = 0; i < horizon * nworld; i++) r.reward.push_back(uniform()), r.done.push_back(uniform() > 0.7);
  for (int i = 0; i < nworld * nobs; i++) r.last.push_back(3 * uniform());
  // every third world runs out of time once
  for (int w = 0; w < nworld; w++) {
    r.truncated_at.push_back(w % 3 ? -1 : w % horizon);
    if (w % 3 == 0) r.done[size_t(w % horizon) * nworld + w] = 1;
  }
  return r;
}

template <class T>
std::unique_ptr<Learner<T>> start(const Policy& p, const PpoSettings& s, const Rollout& r, int nthread = 1) {
  auto l = make_learner<T>(p, s, {.nworld = r.nworld, .nthread = nthread, .seed = 7}, "cpu");
  std::copy_n(r.observation.begin(), r.nworld * r.nobs, l->first_observation());
  l->begin();
  return l;
}

// returns the actions
template <class T>
Doubles roll(Learner<T>& l, const Rollout& r) {
  Doubles actions;
  for (int t = 0; t < r.horizon; t++) {
    const T* a = l.act(t, uint32_t(t + 1));
    actions.insert(actions.end(), a, a + r.nworld * r.nact);
    const StepOut<T> out = l.out(t);
    for (int w = 0; w < r.nworld; w++) {
      const size_t i = size_t(t) * r.nworld + w;
      out.reward[w] = T(r.reward[i]);
      out.done[w] = uint8_t(r.done[i]);
      std::copy_n(&r.observation[(i + r.nworld) * r.nobs], r.nobs, out.observation + size_t(w) * r.nobs);
      if (r.truncated_at[w] != t) continue;
      std::copy_n(&r.last[size_t(w) * r.nobs], r.nobs, out.last + size_t(w) * r.nobs);
      out.truncated_at[w] = t;
    }
  }
  return actions;
}

// ---- the loss as the literature has it, one sample after another

Doubles part(const Doubles& all, size_t row, int n) { return {all.begin() + row * n, all.begin() + (row + 1) * n}; }

double log_density_of(const Policy& p, const Doubles& x, const Doubles& action) {
  const Doubles mean = p.actor(x);
  double s = 0;
  for (int k = 0; k < p.nact; k++)
    s += -std::pow(action[k] - mean[k], 2) / (2 * std::exp(2 * p.log_std[k])) - p.log_std[k] - 0.5 * std::log(2 * M_PI);
  return s;
}

struct Batch {
  std::vector<Doubles> x, action;
  Doubles old_density, advantage, value_target;
};

// old: the policy that acted; now: the one that is improved, whose critic says what comes after the rollout
Batch batch_of(const Rollout& r, const Policy& old, const Policy& now, const Normaliser& normaliser, const Doubles& actions,
               const PpoSettings& s) {
  const int N = r.nworld, H = r.horizon;
  Batch b;
  Doubles value;
  for (int i = 0; i < H * N; i++) {
    b.x.push_back(normaliser(part(r.observation, i, r.nobs)));
    b.action.push_back(part(actions, i, r.nact));
    b.old_density.push_back(log_density_of(old, b.x[i], b.action[i]));
    value.push_back(old.critic(b.x[i])[0]);
  }
  Doubles advantage(H * N);
  for (int w = 0; w < N; w++)
    for (int t = 0; t < H; t++) {
      // sum of discounted temporal differences up to the end of the episode or of the rollout
      double sum = 0, weight = 1;
      for (int k = t; k < H; k++) {
        const int i = k * N + w;
        double after = 0;
        if (r.truncated_at[w] == k)
          after = now.critic(normaliser(part(r.last, w, r.nobs)))[0];
        else if (!r.done[i])
          after = k + 1 < H ? value[i + N] : now.critic(normaliser(part(r.observation, i + N, r.nobs)))[0];
        sum += weight * (r.reward[i] + s.gamma * after - value[i]);
        weight *= s.gamma * s.lambda;
        if (r.done[i]) break;
      }
      advantage[t * N + w] = sum;
    }
  double mean = 0, var = 0;
  for (double a : advantage) mean += a / advantage.size();
  for (double a : advantage) var += (a - mean) * (a - mean) / (advantage.size() - 1);
  for (size_t i = 0; i < advantage.size(); i++) {
    b.value_target.push_back(advantage[i] + value[i]);
    b.advantage.push_back((advantage[i] - mean) / (std::sqrt(var) + 1e-6));
  }
  return b;
}

double loss(const Batch& b, const Policy& p, const PpoSettings& s, int* clipped = nullptr) {
  const size_t n = b.x.size();
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    const double ratio = std::exp(log_density_of(p, b.x[i], b.action[i]) - b.old_density[i]);
    const double cut = std::clamp(ratio, 1 - s.clip, 1 + s.clip);
    if (clipped && cut * b.advantage[i] < ratio * b.advantage[i]) ++*clipped;
    sum += -std::min(ratio * b.advantage[i], cut * b.advantage[i]);
    sum += std::pow(p.critic(b.x[i])[0] - b.value_target[i], 2);
  }
  sum /= double(n);
  for (double l : p.log_std) sum -= s.entropy * l;  // a normal distribution's entropy but for a constant
  return sum;
}

// in the order of the learner's gradient
std::vector<double*> parameters(Policy& p) {
  std::vector<double*> all;
  const auto take = [&](Doubles& v) {
    for (double& x : v) all.push_back(&x);
  };
  for (Layer& l : p.actor.layer) take(l.weight), take(l.bias);
  take(p.log_std);
  for (Layer& l : p.critic.layer) take(l.weight), take(l.bias);
  return all;
}

void compare_gradients(int nworld, int horizon) {
  INFO(nworld << " worlds, " << horizon << " steps");
  const Rollout r = random_rollout(nworld, horizon, 7, 3, 1);
  PpoSettings s;
  s.hidden = {6, 5};
  s.horizon = horizon, s.epochs = s.minibatches = 1;
  s.entropy = 0.3, s.gamma = 0.9, s.lambda = 0.8, s.log_std = -0.5;
  const Policy old = new_policy("none", r.nobs, r.nact, s, 5);
  const auto learner = start<double>(old, s, r);
  const Normaliser normaliser = learner->policy().normaliser;
  const Doubles actions = roll(*learner, r);
  // other parameters from here on: then ratios are not 1, and some are cut
  Doubles state = learner->save();
  Policy p = old;
  const std::vector<double*> parameter = parameters(p);
  std::mt19937 random(3);
  for (size_t i = 0; i < parameter.size(); i++) {
    *parameter[i] += 0.2 * (random() / 4294967296.0 - 0.5);
    state[i] = *parameter[i];
  }
  learner->restore(state);
  learner->update(0);
  const Doubles gradient = learner->last_gradient();
  REQUIRE(gradient.size() == parameter.size());

  const Batch b = batch_of(r, old, p, normaliser, actions, s);
  int clipped = 0;
  const double at_p = loss(b, p, s, &clipped);
  CHECK(clipped > nworld * horizon / 20);
  CHECK(clipped < nworld * horizon * 3 / 4);
  const UpdateStats stats = learner->take_stats();
  double entropy = 0;
  for (double l : p.log_std) entropy += s.entropy * l;
  CHECK(stats.surrogate + stats.value_loss - entropy == Approx(at_p).epsilon(1e-12));

  double wrong = 0, norm = 0;
  for (size_t i = 0; i < parameter.size(); i++) {
    const double middle = *parameter[i], h = 1e-5;
    *parameter[i] = middle + h;
    const double above = loss(b, p, s);
    *parameter[i] = middle - h;
    const double below = loss(b, p, s);
    *parameter[i] = middle;
    wrong = std::max(wrong, std::abs((above - below) / (2 * h) - gradient[i]));
    norm += gradient[i] * gradient[i];
  }
  CHECK(norm > 0.1);
  CHECK(wrong < 1e-8 * std::sqrt(norm));
}

// ---- the update that PyTorch did

const char* const kRecorded = BATCHSIM_SOURCE "/tests/stance/torch_update.json";

PpoSettings recorded_settings() {
  PpoSettings s;
  s.hidden = {6, 4};
  s.horizon = 6, s.epochs = 2, s.minibatches = 2;
  s.entropy = 0.01, s.actor_rate = 0.01, s.critic_rate = 0.02, s.target_kl = 0.01, s.stop_kl = 1000, s.most_rate = 1;
  return s;
}

json as_json(const Policy& p) {
  json j = {{"log_std", p.log_std}};
  for (const auto& [name, mlp] : {std::pair{"actor", &p.actor}, std::pair{"critic", &p.critic}})
    for (const Layer& l : mlp->layer) j[name].push_back({{"in", l.in}, {"out", l.out}, {"weight", l.weight}, {"bias", l.bias}});
  return j;
}

template <class T>
void compare_with_recorded(double tolerance) {
  std::ifstream in(kRecorded);
  REQUIRE(in);
  const json file = json::parse(in), &given = file.at("given"), &expected = file.at("expected");
  const PpoSettings s = recorded_settings();
  const Rollout r = random_rollout(8, s.horizon, 5, 3, 2);
  const auto learner = start<T>(new_policy("none", r.nobs, r.nact, s, 5), s, r);
  const Doubles actions = roll(*learner, r), recorded = given.at("action");
  INFO("if the rollout differs, run torch_update.py again");
  REQUIRE(given.at("reward").get<Doubles>() == r.reward);
  for (size_t i = 0; i < recorded.size(); i++) REQUIRE(actions[i] == Approx(recorded[i]).epsilon(tolerance).margin(tolerance));

  learner->update(4);
  const UpdateStats stats = learner->take_stats();
  CHECK(stats.kl == Approx(expected.at("kl").get<double>()).epsilon(100 * tolerance));
  CHECK(stats.surrogate == Approx(expected.at("surrogate").get<double>()).epsilon(100 * tolerance));
  CHECK(stats.value_loss == Approx(expected.at("value_loss").get<double>()).epsilon(100 * tolerance));
  CHECK(stats.actor_norm == Approx(expected.at("actor_norm").get<double>()).epsilon(100 * tolerance));
  CHECK(stats.critic_norm == Approx(expected.at("critic_norm").get<double>()).epsilon(100 * tolerance));
  CHECK(stats.actor_rate == Approx(expected.at("rate").get<double>()).epsilon(1e-12));
  CHECK(stats.actor_rate < s.actor_rate);

  const Policy p = learner->policy();
  CHECK(p.normaliser.count == expected.at("count").get<double>());
  const Doubles mean = expected.at("mean"), var = expected.at("var");
  for (int i = 0; i < r.nobs; i++) {
    CHECK(p.normaliser.mean[i] == Approx(mean[i]).epsilon(tolerance));
    CHECK(p.normaliser.var[i] == Approx(var[i]).epsilon(tolerance));
  }
  Policy copy = p;
  const std::vector<double*> parameter = parameters(copy);
  const Doubles after = expected.at("parameters");
  REQUIRE(parameter.size() == after.size());
  double wrong = 0;
  for (size_t i = 0; i < after.size(); i++) wrong = std::max(wrong, std::abs(*parameter[i] - after[i]));
  CHECK(wrong < tolerance);
}

}  // namespace

TEST_CASE("the gradient is that of the loss") {
  compare_gradients(9, 5);
  compare_gradients(40, 10);  // several shards, the last one not full
}

TEST_CASE("one update is PyTorch's, double") { compare_with_recorded<double>(1e-11); }
TEST_CASE("one update is PyTorch's, float") { compare_with_recorded<float>(1e-5); }

// for torch_update.py
TEST_CASE("what PyTorch is given", "[.][torch_given]") {
  const char* path = std::getenv("TORCH_GIVEN");
  REQUIRE(path);
  const PpoSettings s = recorded_settings();
  const Rollout r = random_rollout(8, s.horizon, 5, 3, 2);
  const Policy p = new_policy("none", r.nobs, r.nact, s, 5);
  const auto learner = start<double>(p, s, r);
  json order;
  const uint32_t n = uint32_t(s.horizon * r.nworld);
  for (int epoch = 0; epoch < s.epochs; epoch++) {
    json e;
    for (uint32_t i = 0; i < n; i++) e.push_back(shuffled(i, n, 7, 4, uint32_t(epoch)));
    order.push_back(e);
  }
  json settings;
#define X(type, name, value, doc) settings[#name] = s.name;
  STANCE_PPO(X)
#undef X
  const json given = {{"nworld", r.nworld},
                      {"nobs", r.nobs},
                      {"nact", r.nact},
                      {"policy", as_json(p)},
                      {"settings", settings},
                      {"observation", r.observation},
                      {"reward", r.reward},
                      {"done", r.done},
                      {"truncated_at", r.truncated_at},
                      {"last", r.last},
                      {"action", roll(*learner, r)},
                      {"order", order}};
  std::ofstream(path) << given.dump(1);
}

TEST_CASE("an update has the same bits with any number of threads") {
  const Rollout r = random_rollout(70, 7, 9, 4, 6);
  PpoSettings s;
  s.hidden = {20, 10};
  s.horizon = r.horizon, s.epochs = 2, s.minibatches = 3;
  const auto after = [&]<class T>(T, int nthread) {
    const auto learner = start<T>(new_policy("none", r.nobs, r.nact, s, 5), s, r, nthread);
    roll(*learner, r);
    learner->update(0);
    return learner->save();
  };
  for (int nthread : {2, 3, 5}) {
    CHECK(after(float(), 1) == after(float(), nthread));
    CHECK(after(double(), 1) == after(double(), nthread));
  }
}

TEST_CASE("the order of samples is a permutation, another one each time") {
  for (uint32_t n : {1u, 2u, 3u, 5u, 16u, 17u, 1000u, 4096u, 5000u}) {
    INFO(n << " samples");
    std::vector<uint32_t> first;
    for (uint32_t k = 0; k < 3; k++) {
      std::vector<uint32_t> order;
      std::vector<bool> seen(n);
      for (uint32_t i = 0; i < n; i++) {
        order.push_back(shuffled(i, n, 11, k == 1, k == 2));
        REQUIRE(order.back() < n);
        CHECK(!seen[order.back()]);
        seen[order.back()] = true;
      }
      if (k == 0)
        first = order;
      else if (n > 5)
        CHECK(order != first);
    }
  }
  // an order that keeps neighbours together would not mix worlds
  int close = 0;
  for (uint32_t i = 0; i + 1 < 4096; i++)
    close += std::abs(int(shuffled(i, 4096, 1, 0, 0)) - int(shuffled(i + 1, 4096, 1, 0, 0))) < 41;
  CHECK(close < 3 * 4096 / 50);  // 2 % are expected
}

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
