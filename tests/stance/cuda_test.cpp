// The example in CUDA against the example on the CPU. Runs on a GPU or under the interpreter for PTX.
#include <cuda_runtime.h>

#include <cmath>

#include "catch.h"
#include "queue.h"
#include "task.h"
#include "train/trainer.h"

namespace {

using namespace stance;

template <class T>
std::vector<T> on_host(const T* p, size_t n, bool cuda) {
  std::vector<T> v(n);
  if (cuda)
    REQUIRE(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  else
    std::copy_n(p, n, v.begin());
  return v;
}

struct Outcome {
  std::vector<double> actions, rewards, observations, gradient;
  UpdateStats update;
  EnvStats env;
  Policy policy;
};

// a short rollout and an update of one minibatch
template <class T>
Outcome first_iteration(const Body& body, const std::string& device, PpoSettings s, int nworld) {
  const bool cuda = device != "cpu";
  const auto queue = make_queue(device);
  const auto env = make_env<T>(body, {.nworld = nworld, .device = device, .seed = 3, .stream = queue->stream()});
  const auto learner = make_learner<T>(new_policy(body.name, body.nobs(), body.nact(), s, 3), s,
                                       {nworld, 1, 3, env->now(), queue->stream()}, device);
  env->start(3, true, learner->first_observation());
  learner->begin();
  Outcome o;
  for (int t = 0; t < s.horizon; t++) {
    const T* action = learner->act(t, uint32_t(t + 1));
    if (cuda) REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (T x : on_host(action, size_t(nworld) * body.nact(), cuda)) o.actions.push_back(x);
    env->step(action, learner->out(t));
  }
  if (cuda) REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const StepOut<T> first = learner->out(0);
  for (T x : on_host(first.reward, size_t(s.horizon) * nworld, cuda)) o.rewards.push_back(x);
  for (T x : on_host(first.observation, size_t(s.horizon) * nworld * body.nobs(), cuda)) o.observations.push_back(x);
  learner->update(0);
  o.env = env->take_stats();
  o.update = learner->take_stats();
  o.gradient = learner->last_gradient();
  o.policy = learner->policy();
  return o;
}

double worst(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double w = 0;
  for (size_t i = 0; i < a.size(); i++) w = std::max(w, std::abs(a[i] - b[i]));
  return w;
}
double norm(const std::vector<double>& a) {
  double s = 0;
  for (double x : a) s += x * x;
  return std::sqrt(s);
}

template <class T>
void compare(double rollout, double gradient) {
  const Body body = load_body("stick");
  PpoSettings s = default_settings(true);
  s.hidden = {12, 8};
  s.horizon = 5, s.epochs = 1, s.minibatches = 1, s.entropy = 0.01;
  const Outcome cpu = first_iteration<T>(body, "cpu", s, 5), cuda = first_iteration<T>(body, "cuda", s, 5);
  CHECK(worst(cpu.actions, cuda.actions) < rollout);
  CHECK(worst(cpu.rewards, cuda.rewards) < rollout);
  CHECK(worst(cpu.observations, cuda.observations) < rollout * 10);  // velocities are of the order of ten
  std::vector<double> d(cpu.gradient.size());
  for (size_t i = 0; i < d.size(); i++) d[i] = cpu.gradient[i] - cuda.gradient[i];
  CHECK(norm(cpu.gradient) > 1e-3);
  CHECK(norm(d) < gradient * norm(cpu.gradient));
  CHECK(cuda.update.kl == Approx(cpu.update.kl).margin(rollout));
  CHECK(cuda.update.value_loss == Approx(cpu.update.value_loss).epsilon(10 * gradient));
  CHECK(cuda.update.actor_rate == cpu.update.actor_rate);
  CHECK(worst(cpu.policy.normaliser.var, cuda.policy.normaliser.var) < rollout * 10);
  CHECK(cuda.policy.normaliser.count == cpu.policy.normaliser.count);
  CHECK(cuda.env.steps == cpu.env.steps);
  CHECK(cuda.env.falls == cpu.env.falls);
  CHECK(cuda.env.ncon_peak == cpu.env.ncon_peak);
  CHECK(cuda.env.reward == Approx(cpu.env.reward).epsilon(10 * gradient));
}

}  // namespace

TEST_CASE("rollout and gradient in CUDA are those of the CPU, float") { compare<float>(1e-5, 1e-5); }
TEST_CASE("rollout and gradient in CUDA are those of the CPU, double") { compare<double>(1e-10, 1e-10); }

TEST_CASE("graphs and one look-up for all tables change no bit") {
  const Body body = load_body("stick");
  PpoSettings s = default_settings(true);
  s.hidden = {8};
  s.horizon = 3, s.epochs = 2, s.minibatches = 2;
  const auto run = [&](Graphs graphs, bool separate) {
    Trainer<float> t(body, s, {.nworld = 3, .device = "cuda", .separate_tables = separate}, graphs);
    for (int i = 0; i < 3; i++) t.iterate();
    CHECK(t.env().physics_steps() == 3 * 3 * int(task::substeps));
    return t.learner().save();
  };
  const std::vector<double> plain = run({false, false}, false);
  CHECK(plain == run({true, true}, false));
  CHECK(plain == run({true, true}, true));
}

TEST_CASE("saved and restored in CUDA: as if it had not stopped") {
  const Body body = load_body("stick");
  PpoSettings s = default_settings(true);
  s.hidden = {8};
  s.horizon = 3, s.epochs = 2, s.minibatches = 2;
  const EnvOptions o{.nworld = 3, .device = "cuda"};
  Trainer<float> whole(body, s, o), first(body, s, o), second(body, s, o);
  whole.iterate(), whole.iterate();
  first.iterate();
  second.adopt(first);
  second.iterate();
  CHECK(whole.learner().save() == second.learner().save());
  CHECK(whole.env().save() == second.env().save());
}
