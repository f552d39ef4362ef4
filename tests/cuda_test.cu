// The CUDA backend: the same worlds as on the CPU, few steps of few worlds, so that it also runs under an interpreter of PTX.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "catch.h"
#include "error_of.h"
#include "model/flat.h"
#include "world/impl.h"
#include "worlds.h"

using namespace batchsim;

namespace {

Model chain_of(int n) {
  std::string chain;
  for (int k = 0; k < n; k++) chain += "<body pos=\"0 0 -.1\"><joint axis=\"1 .5 0\" armature=\".1\"/><geom size=\".02\"/>";
  for (int k = 0; k < n; k++) chain += "</body>";
  return Model::from_xml("<mujoco><option><flag contact=\"disable\"/></option><worldbody>" + chain + "</worldbody></mujoco>");
}

void check_cuda(cudaError_t e) {
  INFO(cudaGetErrorString(e));
  REQUIRE(e == cudaSuccess);
}

template <class T>
constexpr Precision precision_of = sizeof(T) == 4 ? Precision::f32 : Precision::f64;

// host values in device memory
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& v) : n_(v.size()) {
    check_cuda(cudaMalloc(&p_, std::max<size_t>(n_, 1) * sizeof(T)));
    check_cuda(cudaMemcpy(p_, v.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~OnDevice() { cudaFree(p_); }
  T* get() const { return p_; }
  std::vector<T> read() const {
    std::vector<T> v(n_);
    check_cuda(cudaMemcpy(v.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }

 private:
  T* p_ = nullptr;
  size_t n_;
};

// worlds that fall and touch, as a state row each, from the CPU
template <class T>
std::vector<T> start_of(const Model& m, int nworld, int steps) {
  Batch cpu(m, {.nworld = nworld, .precision = precision_of<T>, .nthread = 1});
  scatter<T>(cpu, [](int w) { return w; });
  const auto qpos = cpu.bind<T>("qpos");
  for (int w = 0; w < nworld; w++) qpos(w, 2) -= T(0.2);  // feet in the ground: contacts from the first step
  cpu.step(steps);
  std::vector<T> rows(size_t(nworld) * cpu.state_size());
  cpu.get_state(rows.data());
  return rows;
}

template <class T>
std::vector<T> on_cpu(const Model& m, const std::vector<T>& start, int nworld, int nstep, const std::string& device) {
  Batch b(m, {.nworld = nworld, .device = device, .precision = precision_of<T>, .nthread = 1});
  b.set_state(start.data());
  b.step(nstep);
  std::vector<T> rows(start.size());
  b.get_state(rows.data());
  return rows;
}

template <class T>
std::vector<T> on_gpu(const Model& m, const std::vector<T>& start, int nworld, int nstep) {
  Batch b(m, {.nworld = nworld, .device = "cuda", .precision = precision_of<T>});
  const OnDevice<T> rows(start);
  b.set_state(rows.get());
  b.step(nstep);
  b.get_state(rows.get());
  b.synchronize();
  CHECK(b.report().message() == "");
  return rows.read();
}

template <class T>
double difference(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size(); i++) worst = std::max(worst, double(std::abs(a[i] - b[i])) / (1 + std::abs(double(a[i]))));
  return std::isfinite(worst) ? worst : 1e300;
}

}  // namespace

TEST_CASE("f64 on the GPU has the bits of the checking backend") {
  // the same code, the same order of sums, the same rounding: a difference is a bug of one of them
  const Model m = model_of(GENERATE(values<std::string>({"stick", "simple"})));
  const int nworld = 2;
  const auto start = start_of<double>(m, nworld, 20);
  const auto gpu = on_gpu(m, start, nworld, 3);
  CHECK(same_bits(gpu, on_cpu(m, start, nworld, 3, "check")));
  CHECK(difference(gpu, on_cpu(m, start, nworld, 3, "cpu")) < 1e-9);
  CHECK(difference(gpu, start) > 1e-6);
}

TEST_CASE("f32 on the GPU agrees with packs") {
  const Model m = model_of("stick");
  const int nworld = 3;
  const auto start = start_of<float>(m, nworld, 20);
  CHECK(difference(on_gpu(m, start, nworld, 3), on_cpu(m, start, nworld, 3, "cpu")) < 1e-3);  // qacc_warmstart has the largest
}

TEST_CASE("masks, resets, pushes and kicks on the device") {
  const Model m = model_of("stick");
  const int n = 3, size = m.nv();
  Batch gpu(m, {.nworld = n, .device = "cuda", .precision = Precision::f64});
  Batch cpu(m, {.nworld = n, .precision = Precision::f64});
  const OnDevice<uint8_t> mask({1, 0, 1});
  const uint8_t host_mask[] = {1, 0, 1};
  const std::vector<double> force(3 * n, 40), dqvel(size_t(n) * size, 0.1);
  const OnDevice<double> device_force(force), device_dqvel(dqvel);
  const int body = m.body_id("torso");
  const double point[] = {0.1, 0, 0.2};

  for (Batch* b : {&gpu, &cpu}) {
    const bool g = b == &gpu;
    const Call some{.mask = g ? mask.get() : host_mask};
    b->push(body, g ? device_force.get() : force.data(), 2, point, some);
    b->kick(g ? device_dqvel.get() : dqvel.data(), some);
    b->kick(body, g ? device_force.get() : force.data(), nullptr, some);
    b->step(1);
    b->step(1, some);
  }
  const OnDevice<double> rows(std::vector<double>(size_t(n) * gpu.state_size()));
  std::vector<double> expected(size_t(n) * cpu.state_size());
  gpu.get_state(rows.get());
  cpu.get_state(expected.data());
  CHECK(difference(rows.read(), expected) < 1e-9);

  gpu.reset(-1, {.mask = mask.get()});
  cpu.reset(-1, {.mask = host_mask});
  gpu.get_state(rows.get());
  cpu.get_state(expected.data());
  CHECK(difference(rows.read(), expected) < 1e-9);
}

TEST_CASE("a bad number resets its world on the device") {
  const Model m = model_of("stick");
  Batch gpu(m, {.nworld = 2, .device = "cuda"});
  const auto qpos = gpu.bind<float>("qpos");
  const float nan = NAN;
  check_cuda(cudaMemcpy(qpos[1] + 8, &nan, sizeof nan, cudaMemcpyHostToDevice));
  gpu.step();
  const Report r = gpu.report();
  CHECK(r.worlds_bad_state == 1);
  float x = nan;
  check_cuda(cudaMemcpy(&x, qpos[1] + 8, sizeof x, cudaMemcpyDeviceToHost));
  CHECK(std::isfinite(x));
}

TEST_CASE("a user's graph captures steps") {
  const Model m = model_of("stick");
  Batch graphed(m, {.nworld = 2, .device = "cuda", .precision = Precision::f64}),
      plain(m, {.nworld = 2, .device = "cuda", .precision = Precision::f64});
  cudaStream_t stream;
  check_cuda(cudaStreamCreate(&stream));
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  graphed.step(1, {.stream = stream});
  cudaGraph_t graph;
  check_cuda(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  check_cuda(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; i++) check_cuda(cudaGraphLaunch(exec, stream));
  check_cuda(cudaStreamSynchronize(stream));
  plain.step(3);
  const OnDevice<double> a(std::vector<double>(size_t(2) * plain.state_size())), b(a.read());
  graphed.get_state(a.get());
  plain.get_state(b.get());
  CHECK(same_bits(a.read(), b.read()));
  check_cuda(cudaGraphExecDestroy(exec));
  check_cuda(cudaGraphDestroy(graph));
  check_cuda(cudaStreamDestroy(stream));
}

TEST_CASE("kernels that only factor and solve do what a step does, in shared memory and in the world's own") {
  // a chain of 300 in double has more panels than any GPU's shared memory holds
  const bool large = GENERATE(false, true);
  const Model m = large ? chain_of(300) : model_of("simple");
  const int n = large ? 1 : 3;
  Batch gpu(m, {.nworld = n, .device = "cuda", .precision = Precision::f64, .nconmax = 8, .njmax = 8});
  Engine& engine = *gpu.impl().engine;
  CHECK(engine.factor_plan().shared == !large);
  const auto qLD = gpu.bind<double>("qLD"), acc = gpu.bind<double>("qacc_smooth");
  gpu.forward();
  const auto read = [&](const View<double>& v) {
    std::vector<double> r(size_t(n) * v.size);
    for (int w = 0; w < n; w++)
      check_cuda(cudaMemcpy(r.data() + size_t(w) * v.size, v[w], v.size * sizeof(double), cudaMemcpyDeviceToHost));
    return r;
  };
  const std::vector<double> factor = read(qLD), expected = read(acc);
  const auto wipe = [&](const View<double>& v) {
    for (int w = 0; w < n; w++) check_cuda(cudaMemset(v[w], 0, v.size * sizeof(double)));
  };
  wipe(qLD), wipe(acc);
  engine.run({.op = Op::kFactorM});
  const std::vector<double> again = read(qLD);
  const FlatModel& f = m.flat();
  for (int k = 0; k < f.nv; k++)  // entries that are a row's own: padding is anything
    for (int a = 0; a <= f.dof_depth[k]; a++) {
      const size_t at = f.M_rowadr[k] + kQuad * a;
      REQUIRE(again[at] == factor[at]);
    }
  engine.run({.op = Op::kSolveM});
  CHECK(difference(read(acc), expected) < 1e-9);
  std::vector<std::vector<double>> runs;
  for (int run = 0; run < 2; run++) {
    wipe(qLD), wipe(acc);
    engine.run({.op = Op::kFactorSolveM});
    runs.push_back(read(acc));
    CHECK(difference(runs.back(), expected) < 1e-9);
  }
  CHECK(same_bits(runs[0], runs[1]));
  // the worlds are alike
  for (int w = 1; w < n; w++)
    for (int k = 0; k < m.nv(); k++) REQUIRE(runs[0][size_t(w) * m.nv() + k] == runs[0][k]);
  CHECK(gpu.report().worlds_bad_inertia == 0);
}

TEST_CASE("trees that just fit shared memory, and those that just do not, can be set up and factored") {
  const auto batch_of = [](int n) {
    return Batch(chain_of(n), {.nworld = 1, .device = "cuda", .precision = Precision::f32, .nconmax = 1, .njmax = 1});
  };
  int fits = 40, large = 440;
  while (large - fits > 1) {
    const int n = (fits + large) / 2;
    CAPTURE(n);
    Batch b = batch_of(n);
    (b.impl().engine->factor_plan().shared ? fits : large) = n;
  }
  for (int n : {fits, large}) {
    CAPTURE(n);
    Batch b = batch_of(n);
    CHECK(b.impl().engine->factor_plan().shared == (n == fits));
    b.forward();
    b.impl().engine->run({.op = Op::kFactorM});
    check_cuda(cudaDeviceSynchronize());
  }
}

TEST_CASE("slots too few are flagged on the device, and nothing is written past them") {
  const Model m = model_of("stick");
  Batch gpu(m, {.nworld = 2, .device = "cuda", .nconmax = 3, .njmax = 8});
  gpu.step();
  const Report r = gpu.report();
  CHECK(r.worlds_contacts_dropped == 2);
  CHECK(r.worlds_rows_dropped == 2);
  CHECK(r.ncon_peak == 8);
}

TEST_CASE("a device that is not there is named") {
  const Model m = model_of("stick");
  CHECK(error_of([&] { Batch(m, {.device = "cuda:77"}); }).has("cuda:77"));
}
