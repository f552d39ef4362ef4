// The environment in CUDA: a block of 64 threads a world, the same stages as on the CPU.
#pragma once

#include <algorithm>
#include <cub/device/device_reduce.cuh>

#include "backend/cuda/team.h"
#include "cuda/cuda.h"
#include "cuda/memory.h"
#include "env/layout.h"
#include "env/stages.h"

namespace stance {
inline namespace BS_ISA {

using batchsim::Cuda;

template <class T>
__device__ StepOut<T> present(const StepOut<T>& out, const EnvView<T>& e) {
  return out.rolling ? out.at(e.now->index, e.nworld, e.nobs) : out;
}

// one table of the reference by itself; the first one moves the phase on
template <class T>
__global__ void look_up_kernel(const __grid_constant__ EnvView<T> e, int begin, int end) {
  const Team<Cuda<T>> t;
  const int world = static_cast<int>(blockIdx.x);
  if (begin == 0 && t.leader()) e.phase[world] = next_phase(e.phase[world]);
  t.sync();
  look_up(t, e, world, begin, end);
}

template <class T>
__global__ void act_kernel(const __grid_constant__ EnvView<T> e, const T* action, bool looked_up) {
  const Team<Cuda<T>> t;
  const int world = static_cast<int>(blockIdx.x);
  if (!looked_up) {
    if (t.leader()) e.phase[world] = next_phase(e.phase[world]);
    t.sync();
    look_up(t, e, world, 0, e.width);
    t.sync();
  }
  act(t, e, Tile<Cuda<T>>{world, e.nworld}, action);
}

template <class T>
__global__ void judge_kernel(const __grid_constant__ EnvView<T> e, const T* action, const __grid_constant__ StepOut<T> given,
                             uint8_t* done) {
  const Team<Cuda<T>> t;
  const int world = static_cast<int>(blockIdx.x);
  const Tile<Cuda<T>> w{world, e.nworld};
  const StepOut<T> out = present(given, e);
  judge(t, e, w, action, out);
  t.sync();
  if (t.leader()) done[world] = out.done[world];
  if (out.done[world] && out.truncated_at[world] == out.index) observe(t, e, w, out.last, true);
}

template <class T>
__global__ void restart_kernel(const __grid_constant__ EnvView<T> e, const uint8_t* done) {
  if (done[blockIdx.x]) restart(Team<Cuda<T>>(), e, static_cast<int>(blockIdx.x));
}

// observations, of new episodes too; then the next step may count
template <class T>
__global__ void observe_kernel(const __grid_constant__ EnvView<T> e, const __grid_constant__ StepOut<T> given,
                               const uint8_t* done) {
  const Team<Cuda<T>> t;
  const int world = static_cast<int>(blockIdx.x);
  if (done[world]) settle(t, e, world);
  t.sync();
  observe(t, e, Tile<Cuda<T>>{world, e.nworld}, present(given, e).observation, true);
}

static __global__ void count_kernel(Now* now) { now->step++, now->index++; }
static __global__ void set_level_kernel(Now* now, int level) { now->level = level; }

// clocks of the first episodes, drawn so that they do not all end at once; no world has ended an episode yet
template <class T>
__global__ void first_clocks_kernel(const __grid_constant__ EnvView<T> e, bool staggered) {
  const int w = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (w >= e.nworld) return;
  e.episode[w] = 0;
  const Stream random{e.now->seed, e.now->step, uint32_t(w)};
  if (staggered) e.clock[w] = uniform_int(random.words(Purpose::kStart, 0).v[2], 0, int(task::episode_steps));
}

struct ToDouble {
  template <class V>
  __host__ __device__ double operator()(V x) const {
    return double(x);
  }
};
struct AnyBit {
  __host__ __device__ int operator()(int a, int b) const { return a | b; }
};
struct Dropped {
  __host__ __device__ int operator()(int status) const {
    return (status & (batchsim::kContactsDropped | batchsim::kRowsDropped)) != 0;
  }
};

// what is read once an iteration, in one piece
struct EnvTotals {
#define X(name, doc) double sum_##name;
  STANCE_SUMS(X)
#undef X
#define X(name, doc) double count_##name;
  STANCE_COUNTS(X)
#undef X
  int status, dropped, ncon_peak, nefc_peak;
};

template <class T>
class CudaEnv : public Env<T> {
 public:
  CudaEnv(const Body& body, const EnvOptions& o)
      : Env<T>(body, o),
        batch_(body.model, {.nworld = o.nworld,
                            .device = o.device,
                            .precision = sizeof(T) == 8 ? batchsim::Precision::f64 : batchsim::Precision::f32,
                            .nconmax = o.nconmax,
                            .njmax = o.njmax}),
        stream_(static_cast<cudaStream_t>(o.stream)),
        constants_(body, this->reference_),
        constant_ints_(constants_.ints),
        constant_reals_(constants_.reals),
        done_(o.nworld),
        now_(1),
        totals_(1) {
    EnvView<T>& e = view_;
    describe(e, body, o);
    constants_.place(e, constant_ints_.get(), constant_reals_.get());
    bind(batch_, e);
    e.now = now_.get();
    const EnvSizes sizes(e);
    sizes_ = sizes;
    reals_ = DeviceArray<T>(sizes.reals), ints_ = DeviceArray<int>(sizes.ints);
    reals_.zero(), ints_.zero();
    place(e, reals_.get(), ints_.get());
    if (o.separate_tables) tables_ = Reference::columns(body.njoint);
    size_t bytes = 0;
    reduce_all(nullptr, bytes);
    storage_ = DeviceArray<char>(bytes);
    BS_CUDA(cudaDeviceSynchronize());  // what was set up on the default stream
  }

  const Now* now() const override { return now_.get(); }
  // as many as steps that ran: a graph's do not pass through step()
  int64_t physics_steps() const override {
    BS_CUDA(cudaStreamSynchronize(stream_));
    return (int64_t(now_.read()[0].step) - 1) * int(task::substeps);
  }
  void set_level(int level) override {
    set_level_kernel<<<1, 1, 0, stream_>>>(now_.get(), level);
    BS_CUDA(cudaGetLastError());
  }

  void start(int level, bool staggered, T* observation) override {
    const Now now{this->options_.seed, 0, level, 0};
    now_.write(&now, 1);
    BS_CUDA(cudaMemset(done_.get(), 1, done_.size()));
    BS_CUDA(cudaDeviceSynchronize());
    begin_episodes();
    first_clocks_kernel<<<(view_.nworld + 127) / 128, 128, 0, stream_>>>(view_, staggered);
    StepOut<T> out{};
    out.observation = observation;
    observe_kernel<<<view_.nworld, 64, 0, stream_>>>(view_, out, done_.get());
    BS_CUDA(cudaGetLastError());
    const Now then{this->options_.seed, 1, level, 0};
    BS_CUDA(cudaStreamSynchronize(stream_));
    now_.write(&then, 1);
    clear_counts();
    BS_CUDA(cudaStreamSynchronize(stream_));
  }

  void step(const T* action, const StepOut<T>& out) override {
    const int n = view_.nworld;
    for (size_t table = 0; table + 1 < tables_.size(); table++)
      look_up_kernel<<<n, 64, 0, stream_>>>(view_, tables_[table], tables_[table + 1]);
    act_kernel<<<n, 64, 0, stream_>>>(view_, action, !tables_.empty());
    BS_CUDA(cudaGetLastError());
    batch_.step(int(task::substeps), batchsim::Stage::kKinematics, {.stream = stream_});
    judge_kernel<<<n, 64, 0, stream_>>>(view_, action, out, done_.get());
    BS_CUDA(cudaGetLastError());
    begin_episodes();
    observe_kernel<<<n, 64, 0, stream_>>>(view_, out, done_.get());
    count_kernel<<<1, 1, 0, stream_>>>(now_.get());
    BS_CUDA(cudaGetLastError());
  }

  EnvStats take_stats() override {
    size_t bytes = storage_.size();
    reduce_all(storage_.get(), bytes);
    clear_counts();
    const EnvTotals t = host_totals_.read(totals_.get(), stream_);
    EnvStats s;
#define X(name, doc) s.name = t.sum_##name;
    STANCE_SUMS(X)
#undef X
#define X(name, doc) s.name = int64_t(t.count_##name);
    STANCE_COUNTS(X)
#undef X
    s.status = t.status, s.ncon_peak = t.ncon_peak, s.nefc_peak = t.nefc_peak, s.worlds_dropped = t.dropped;
    return s;
  }

  Shove shove(int world) const override {
    BS_CUDA(cudaStreamSynchronize(stream_));
    int c = 0;
    T force[2];
    BS_CUDA(cudaMemcpy(&c, view_.countdown + world, sizeof c, cudaMemcpyDeviceToHost));
    BS_CUDA(cudaMemcpy(force, view_.shove + 2 * world, sizeof force, cudaMemcpyDeviceToHost));
    if (c > 0 || c <= -int(task::shove_steps)) return {};
    return {double(force[0]), double(force[1])};
  }
  void export_mjdata(int world, mjData* d) const override {
    BS_CUDA(cudaStreamSynchronize(stream_));
    batch_.export_mjdata(world, d);
  }

  std::vector<double> save() const override {
    BS_CUDA(cudaStreamSynchronize(stream_));
    const std::vector<T> reals = reals_.read(sizes_.kept_reals);
    const std::vector<int> ints = ints_.read(sizes_.kept_ints);
    std::vector<double> v(reals.begin(), reals.end());
    v.insert(v.end(), ints.begin(), ints.end());
    const DeviceArray<T> rows(size_t(view_.nworld) * batch_.state_size());
    batch_.get_state(rows.get(), batchsim::Batch::kStateIntegration, {.stream = stream_});
    BS_CUDA(cudaStreamSynchronize(stream_));
    for (T x : rows.read()) v.push_back(x);
    for (const batchsim::View<T>& f : inner())
      for (int w = 0; w < f.nworld; w++) {
        std::vector<T> row(f.size);
        BS_CUDA(cudaMemcpy(row.data(), f[w], f.size * sizeof(T), cudaMemcpyDeviceToHost));
        v.insert(v.end(), row.begin(), row.end());
      }
    const Now now = now_.read()[0];
    v.insert(v.end(), {double(now.step), double(now.level)});
    return v;
  }
  void restore(const std::vector<double>& saved) override {
    const size_t n = view_.nworld, state = n * batch_.state_size();
    size_t expected = sizes_.kept_reals + sizes_.kept_ints + state + 2;
    for (const batchsim::View<T>& f : inner()) expected += n * f.size;
    if (saved.size() != expected)
      throw batchsim::Error(batchsim::Error::kInput, "the saved environment is of another body or number of worlds");
    const double* from = saved.data();
    const auto take = [&](auto* to, size_t count) {
      using V = std::remove_pointer_t<decltype(to)>;
      const std::vector<V> v(from, from + count);
      if (count) BS_CUDA(cudaMemcpy(to, v.data(), count * sizeof(V), cudaMemcpyHostToDevice));
      from += count;
    };
    take(reals_.get(), sizes_.kept_reals), take(ints_.get(), sizes_.kept_ints);
    const DeviceArray<T> rows(state);
    take(rows.get(), state);
    BS_CUDA(cudaDeviceSynchronize());
    batch_.reset(-1, {.stream = stream_});
    batch_.set_state(rows.get(), batchsim::Batch::kStateIntegration, {.stream = stream_});
    BS_CUDA(cudaStreamSynchronize(stream_));
    for (const batchsim::View<T>& f : inner())
      for (int w = 0; w < f.nworld; w++) take(f[w], f.size);
    const Now now{this->options_.seed, uint32_t(from[0]), int(from[1]), 0};
    now_.write(&now, 1);
    clear_counts();
    BS_CUDA(cudaDeviceSynchronize());
  }

 private:
  std::vector<batchsim::View<T>> inner() const {
    auto& batch = const_cast<batchsim::Batch&>(batch_);
    return {view_.sensordata, batch.bind<T>("time_carry")};
  }

  // new episodes in the worlds of done_
  void begin_episodes() {
    const batchsim::Call mask{.mask = done_.get(), .stream = stream_};
    batch_.reset(-1, mask);
    restart_kernel<<<view_.nworld, 64, 0, stream_>>>(view_, done_.get());
    BS_CUDA(cudaGetLastError());
    batch_.forward(mask);
  }

  void clear_counts() {
    BS_CUDA(cudaMemsetAsync(reals_.get() + sizes_.kept_reals, 0, (sizes_.reals - sizes_.kept_reals) * sizeof(T), stream_));
    BS_CUDA(cudaMemsetAsync(ints_.get() + sizes_.kept_ints, 0, (sizes_.ints - sizes_.kept_ints) * sizeof(int), stream_));
    batch_.clear_status({.stream = stream_});
  }

  // all worlds' sums, in an order that is always the same; storage null: how many bytes it takes
  void reduce_all(void* storage, size_t& bytes) {
    const int n = view_.nworld;
    EnvTotals* to = totals_.get();
    size_t most = 0, have = bytes;
    const auto done = [&] { most = std::max(most, have), have = bytes; };
#define X(name, doc)                                                                                                     \
  BS_CUDA(cub::DeviceReduce::TransformReduce(storage, have, view_.sum_##name, &to->sum_##name, n, ::cuda::std::plus<>(), \
                                             ToDouble(), 0.0, stream_));                                                 \
  done();
    STANCE_SUMS(X)
#undef X
#define X(name, doc)                                                                                                         \
  BS_CUDA(cub::DeviceReduce::TransformReduce(storage, have, view_.count_##name, &to->count_##name, n, ::cuda::std::plus<>(), \
                                             ToDouble(), 0.0, stream_));                                                     \
  done();
    STANCE_COUNTS(X)
#undef X
    BS_CUDA(cub::DeviceReduce::Reduce(storage, have, view_.count_status, &to->status, n, AnyBit(), 0, stream_));
    done();
    BS_CUDA(cub::DeviceReduce::TransformReduce(storage, have, view_.count_status, &to->dropped, n, ::cuda::std::plus<>(), Dropped(),
                                               0, stream_));
    done();
    BS_CUDA(cub::DeviceReduce::Max(storage, have, view_.count_ncon_peak, &to->ncon_peak, n, stream_));
    done();
    BS_CUDA(cub::DeviceReduce::Max(storage, have, view_.count_nefc_peak, &to->nefc_peak, n, stream_));
    done();
    if (!storage) bytes = most;
  }

  batchsim::Batch batch_;
  cudaStream_t stream_;
  EnvConstants<T> constants_;
  DeviceArray<int> constant_ints_;
  DeviceArray<T> constant_reals_;
  DeviceArray<uint8_t> done_;
  DeviceArray<Now> now_;
  DeviceArray<EnvTotals> totals_;
  Pinned<EnvTotals> host_totals_;
  DeviceArray<T> reals_;
  DeviceArray<int> ints_;
  DeviceArray<char> storage_;
  std::vector<int> tables_;  // columns, where they are looked up one by one
  EnvSizes sizes_{EnvView<T>{}};
  EnvView<T> view_{};
};

}  // namespace BS_ISA
}  // namespace stance
