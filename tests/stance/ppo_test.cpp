// The learner: its gradient, its update and its random numbers, each against another's.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "catch.h"
#include "ppo/elements.h"
#include "ppo/learner.h"

namespace {

using namespace stance;
using nlohmann::json;
using Doubles = std::vector<double>;

constexpr uint64_t kSeed = 7;

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
  // a few are far out, beyond what the normaliser lets through
  for (int i = 0; i < (horizon + 1) * nworld * nobs; i++) r.observation.push_back((i % 53 == 52 ? 60 : 3) * uniform() + i % nobs);
  for (int i = 0; i < horizon * nworld; i++) r.reward.push_back(uniform()), r.done.push_back(uniform() > 0.7);
  for (int i = 0; i < nworld * nobs; i++) r.last.push_back(3 * uniform());
  // every third world runs out of time once, other worlds for another seed
  for (unsigned w = 0; w < unsigned(nworld); w++) {
    const bool truncated = (w + seed) % 3 == 0;
    r.truncated_at.push_back(truncated ? int(w % horizon) : -1);
    if (truncated) r.done[size_t(w % horizon) * nworld + w] = 1;
  }
  return r;
}

template <class T>
std::unique_ptr<Learner<T>> start(const Policy& p, const PpoSettings& s, const Rollout& r, int nthread = 1) {
  auto l = make_learner<T>(p, s, {.nworld = r.nworld, .nthread = nthread, .seed = kSeed}, "cpu");
  std::copy_n(r.observation.begin(), r.nworld * r.nobs, l->first_observation());
  l->begin();
  return l;
}

// returns the actions; the first observations are the learner's already
template <class T>
Doubles roll(Learner<T>& l, const Rollout& r, int steps_before = 0) {
  Doubles actions;
  for (int t = 0; t < r.horizon; t++) {
    const T* a = l.act(t, uint32_t(steps_before + t + 1));
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
std::vector<double*> parameters_of(Mlp& mlp) {
  std::vector<double*> all;
  for (Layer& l : mlp.layer)
    for (Doubles* v : {&l.weight, &l.bias})
      for (double& x : *v) all.push_back(&x);
  return all;
}
std::vector<double*> parameters(Policy& p) {
  std::vector<double*> all = parameters_of(p.actor);
  for (double& x : p.log_std) all.push_back(&x);
  for (double* x : parameters_of(p.critic)) all.push_back(x);
  return all;
}

double dot(const Doubles& a, const Doubles& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// directions: 0 for each parameter alone, else the number of random ones
void compare_gradients(int nworld, int horizon, const std::vector<int>& hidden, int directions = 0) {
  INFO(nworld << " worlds, " << horizon << " steps, " << hidden[0] << " units");
  const Rollout r = random_rollout(nworld, horizon, 7, 3, 1);
  PpoSettings s;
  s.hidden = hidden;
  s.horizon = horizon, s.epochs = s.minibatches = 1;
  s.entropy = 0.3, s.gamma = 0.9, s.lambda = 0.8, s.log_std = -0.5, s.clip = 0.2;
  const Policy old = new_policy("none", r.nobs, r.nact, s, 5);
  const auto learner = start<double>(old, s, r);
  const Normaliser normaliser = learner->policy().normaliser;
  const Doubles actions = roll(*learner, r);
  // other parameters from here on: then ratios are not 1, and some are cut
  Doubles state = learner->save();
  Policy p = old;
  const std::vector<double*> parameter = parameters(p);
  std::mt19937 random(3);
  const auto uniform = [&] { return random() / 4294967296.0 - 0.5; };
  const double change = 0.5 / std::sqrt(double(hidden[0]));
  for (size_t i = 0; i < parameter.size(); i++) state[i] = *parameter[i] += change * uniform();
  learner->restore(state);
  learner->update(0);
  const Doubles gradient = learner->last_gradient();
  REQUIRE(gradient.size() == parameter.size());

  const Batch b = batch_of(r, old, p, normaliser, actions, s);
  int clipped = 0, far_out = 0;
  const double at_p = loss(b, p, s, &clipped);
  CHECK(clipped > nworld * horizon / 20);
  CHECK(clipped < nworld * horizon * 3 / 4);
  for (const Doubles& x : b.x) far_out += int(std::count(x.begin(), x.end(), Normaliser::kClip));
  CHECK(far_out > 0);
  const UpdateStats stats = learner->take_stats();
  double entropy = 0;
  for (double l : p.log_std) entropy += s.entropy * l;
  CHECK(stats.surrogate + stats.value_loss - entropy == Approx(at_p).epsilon(1e-12));

  const Doubles middle(state.begin(), state.begin() + parameter.size());
  const auto loss_at = [&](const Doubles& direction, double h) {
    for (size_t i = 0; i < parameter.size(); i++) *parameter[i] = middle[i] + h * direction[i];
    return loss(b, p, s);
  };
  const double h = 1e-5, norm = std::sqrt(dot(gradient, gradient));
  CHECK(norm > 0.3);
  double wrong = 0;
  for (int k = 0; k < (directions ? directions : int(parameter.size())); k++) {
    Doubles direction(parameter.size());
    if (directions)
      for (double& d : direction) d = uniform();
    else
      direction[k] = 1;
    const double length = std::sqrt(dot(direction, direction));
    for (double& d : direction) d /= length;
    wrong = std::max(wrong, std::abs((loss_at(direction, h) - loss_at(direction, -h)) / (2 * h) - dot(gradient, direction)));
  }
  CHECK(wrong < 1e-8 * norm);

  // Adam's first step has the length of the rate, but where the gradient is as small as its epsilon
  const size_t nactor = parameter.size() - parameters_of(p.critic).size();
  const Doubles after = learner->save();
  double actor2 = 0, critic2 = 0, missed = 0;
  for (size_t i = 0; i < gradient.size(); i++) (i < nactor ? actor2 : critic2) += gradient[i] * gradient[i];
  CHECK(stats.actor_norm == Approx(std::sqrt(actor2)).epsilon(1e-12));
  CHECK(stats.critic_norm == Approx(std::sqrt(critic2)).epsilon(1e-12));
  for (size_t i = 0; i < gradient.size(); i++) {
    const double cut = gradient[i] * std::min(1.0, s.grad_norm / (std::sqrt(i < nactor ? actor2 : critic2) + 1e-6));
    const double step = (i < nactor ? s.actor_rate : s.critic_rate) * cut / (std::abs(cut) + 1e-5);
    missed = std::max(missed, std::abs(middle[i] - step - after[i]));
  }
  CHECK(missed < 1e-14);
}

// ---- the update that PyTorch did

const char* const kRecorded = BATCHSIM_SOURCE "/tests/stance/torch_update.json";

// every number, so that the defaults may change
PpoSettings recorded_settings() {
  return {.hidden = {18, 9},  // more than a pack of any instruction set, and some
          .horizon = 7,
          .log_std = -0.8,
          .actor_rate = 0.01,
          .least_rate = 1e-4,
          .most_rate = 1,
          .rate_factor = 1.5,
          .target_kl = 0.005,  // slower after the first update, faster after the second
          .stop_kl = 1000,
          .critic_rate = 0.02,
          .gamma = 0.97,
          .lambda = 0.95,
          .clip = 0.2,
          .entropy = 0.01,
          .grad_norm = 0.35,
          .epochs = 2,
          .minibatches = 2};
}

json as_json(const PpoSettings& s) {
  json j = {{"hidden", s.hidden}};
#define X(type, name, value, doc) j[#name] = s.name;
  STANCE_PPO(X)
#undef X
  return j;
}
json as_json(const Policy& p) {
  json j = {{"log_std", p.log_std}};
  for (const auto& [name, mlp] : {std::pair{"actor", &p.actor}, std::pair{"critic", &p.critic}})
    for (const Layer& l : mlp->layer) j[name].push_back({{"in", l.in}, {"out", l.out}, {"weight", l.weight}, {"bias", l.bias}});
  return j;
}
json as_json(const Rollout& r) {
  return {
      {"observation", r.observation}, {"reward", r.reward}, {"done", r.done}, {"truncated_at", r.truncated_at}, {"last", r.last}};
}

// two of them, so that Adam, the rate and the statistics go on from what the first update left; minibatches of 136 and 137 samples
constexpr int kUpdates = 2;
constexpr uint32_t kFirstIteration = 4;
Rollout recorded_rollout(int k) {
  Rollout r = random_rollout(39, recorded_settings().horizon, 4, 2, 2 + unsigned(k));
  if (!k) return r;
  const Rollout before = recorded_rollout(k - 1);
  std::copy(before.observation.end() - r.nworld * r.nobs, before.observation.end(), r.observation.begin());
  return r;
}
template <class T>
std::unique_ptr<Learner<T>> start_recorded() {
  const Rollout r = recorded_rollout(0);
  return start<T>(new_policy("none", r.nobs, r.nact, recorded_settings(), 5), recorded_settings(), r);
}

// tolerance of numbers about 1
template <class T>
void compare_with_recorded(double tolerance) {
  std::ifstream in(kRecorded);
  REQUIRE(in);
  const json file = json::parse(in), &given = file.at("given"), &expected = file.at("expected");
  INFO("if settings or rollouts differ, run torch_update.py again");
  REQUIRE(given.at("settings") == as_json(recorded_settings()));
  REQUIRE(given.at("rollout").size() == kUpdates);
  const auto learner = start_recorded<T>();
  const auto near = [&](double x) { return Approx(x).epsilon(tolerance).margin(tolerance); };

  double rate = recorded_settings().actor_rate;
  for (int k = 0; k < kUpdates; k++) {
    INFO("update " << k);
    const Rollout r = recorded_rollout(k);
    json rollout = given.at("rollout").at(k);
    const Doubles recorded = rollout.at("action"), actions = roll(*learner, r, k * r.horizon);
    rollout.erase("action"), rollout.erase("order");
    REQUIRE(rollout == as_json(r));
    REQUIRE(actions.size() == recorded.size());
    for (size_t i = 0; i < recorded.size(); i++) REQUIRE(actions[i] == near(recorded[i]));

    learner->update(kFirstIteration + uint32_t(k));
    const UpdateStats stats = learner->take_stats();
    const json& want = expected.at(k);
    CHECK(stats.epochs == recorded_settings().epochs);
    CHECK(stats.kl == near(want.at("kl")));
    CHECK(stats.surrogate == near(want.at("surrogate")));
    CHECK(stats.value_loss == near(want.at("value_loss")));
    CHECK(stats.actor_norm == near(want.at("actor_norm")));
    CHECK(stats.critic_norm == near(want.at("critic_norm")));
    CHECK(stats.actor_rate == Approx(want.at("rate").get<double>()).epsilon(1e-12));
    CHECK(stats.actor_rate != rate);
    rate = stats.actor_rate;

    Policy p = learner->policy();
    CHECK(p.normaliser.count == want.at("count").get<double>());
    const Doubles mean = want.at("mean"), var = want.at("var"), after = want.at("parameters");
    for (int i = 0; i < r.nobs; i++) {
      CHECK(p.normaliser.mean[i] == near(mean[i]));
      CHECK(p.normaliser.var[i] == near(var[i]));
    }
    const std::vector<double*> parameter = parameters(p);
    REQUIRE(parameter.size() == after.size());
    double wrong = 0;
    for (size_t i = 0; i < after.size(); i++) wrong = std::max(wrong, std::abs(*parameter[i] - after[i]));
    CHECK(wrong < tolerance);
  }
}

}  // namespace

TEST_CASE("the gradient is that of the loss, the step Adam's") {
  compare_gradients(9, 5, {6, 5});
  compare_gradients(40, 10, {6, 5});        // several shards, the last one not full
  compare_gradients(40, 10, {70, 60}, 20);  // several chunks of parameters
}

TEST_CASE("updates are PyTorch's, double") { compare_with_recorded<double>(1e-11); }
TEST_CASE("updates are PyTorch's, float") { compare_with_recorded<float>(1e-5); }  // seen: 4e-6

// for torch_update.py
TEST_CASE("what PyTorch is given", "[.][stance_torch_dump]") {
  const char* path = std::getenv("TORCH_GIVEN");
  REQUIRE(path);
  const PpoSettings s = recorded_settings();
  const auto learner = start_recorded<double>();
  const Policy p = learner->policy();
  json given = {{"nobs", p.nobs}, {"nact", p.nact}, {"policy", as_json(p)}, {"settings", as_json(s)}};
  for (int k = 0; k < kUpdates; k++) {
    const Rollout r = recorded_rollout(k);
    const uint32_t n = uint32_t(r.horizon * r.nworld), iteration = kFirstIteration + uint32_t(k);
    json rollout = as_json(r);
    rollout["action"] = roll(*learner, r, k * r.horizon);
    for (int epoch = 0; epoch < s.epochs; epoch++) {
      json order;
      for (uint32_t i = 0; i < n; i++) order.push_back(shuffled(i, n, kSeed, iteration, uint32_t(epoch)));
      rollout["order"].push_back(order);
    }
    given["rollout"].push_back(rollout);
    learner->update(iteration);
  }
  std::ofstream(path) << given;
}

TEST_CASE("an update has the same bits with any number of threads") {
  const Rollout r = random_rollout(70, 7, 9, 4, 6);
  PpoSettings s;
  s.hidden = {70, 60};                                     // several chunks of parameters
  s.horizon = r.horizon, s.epochs = 2, s.minibatches = 1;  // of four shards
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

TEST_CASE("an update stops after the epoch that went too far") {
  const Rollout r = random_rollout(40, 4, 7, 3, 8);
  PpoSettings s;
  s.hidden = {6, 5};
  s.horizon = r.horizon, s.minibatches = 1, s.actor_rate = 0.01, s.target_kl = 1e-3;
  const auto after = [&](int epochs, double stop_kl) {
    s.epochs = epochs, s.stop_kl = stop_kl;
    const auto learner = start<double>(new_policy("none", r.nobs, r.nact, s, 5), s, r);
    roll(*learner, r);
    learner->update(0);
    return std::pair{learner->take_stats(), learner->save()};
  };
  const double second = after(2, 1e9).first.kl, third = after(3, 1e9).first.kl;
  CHECK(after(1, 1e9).first.kl == Approx(0).margin(1e-12));  // nothing has changed yet
  REQUIRE(second < third);
  const auto [stats, state] = after(5, (second + third) / 2 / s.target_kl);
  CHECK(stats.epochs == 3);
  CHECK(stats.kl == third);
  CHECK(state == after(3, 1e9).second);
  // the last minibatch decides; of two in the first epoch it has all of the divergence, their mean half of it
  s.minibatches = 2;
  const double mean = after(1, 1e9).first.kl;
  CHECK(after(5, 1.5 * mean / s.target_kl).first.epochs == 1);
  CHECK(after(5, 2.5 * mean / s.target_kl).first.epochs > 1);
}

TEST_CASE("the rate follows the KL divergence, between its bounds") {
  Rollout r = random_rollout(9, 4, 7, 3, 8);
  PpoSettings s;
  s.hidden = {6, 5};
  s.horizon = r.horizon, s.epochs = 3, s.minibatches = 1, s.stop_kl = 1e12, s.rate_factor = 1.5, s.actor_rate = 1e-3;
  s.least_rate = 0.9e-3, s.most_rate = 1.2e-3;
  const auto stats = [&](double target_kl) {
    s.target_kl = target_kl;
    const auto learner = start<double>(new_policy("none", r.nobs, r.nact, s, 5), s, r);
    roll(*learner, r);
    learner->update(0);
    return learner->take_stats();
  };
  const double kl = stats(1).kl;
  REQUIRE(kl > 0);
  CHECK(stats(kl * 2.01).actor_rate == s.most_rate);
  CHECK(stats(kl / 1.51).actor_rate == s.least_rate);
  for (double unchanged : {kl * 1.99, kl / 1.49}) CHECK(stats(unchanged).actor_rate == s.actor_rate);
  s.least_rate = 1e-5, s.most_rate = 1;
  CHECK(stats(kl * 2.01).actor_rate == Approx(1.5e-3));
  CHECK(stats(kl / 1.51).actor_rate == Approx(1e-3 / 1.5));
  r.observation[size_t(r.nworld) * r.nobs] = NAN;  // of the second step
  CHECK(stats(1).actor_rate == s.actor_rate);
}

TEST_CASE("the statistics never count more than 2e6 samples") {
  const Rollout r = random_rollout(9, 4, 7, 3, 8);
  PpoSettings s;
  s.hidden = {6, 5}, s.horizon = r.horizon;
  const auto learner = start<double>(new_policy("none", r.nobs, r.nact, s, 5), s, r);
  Doubles state = learner->save();
  double& count = state[state.size() - 3];
  REQUIRE(count == r.nworld);
  count = 2e6 - 1;
  learner->restore(state);
  roll(*learner, r);
  learner->update(0);
  CHECK(learner->policy().normaliser.count == 2e6);
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
