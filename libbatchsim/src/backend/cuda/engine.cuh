// The CUDA engine: a block of 64 threads a world, a launch a call. Stages share one kernel: a world that is done costs nothing more,
// and nothing waits for the host. The only place with <<<>>>.
#pragma once

#include <cstring>
#include <sstream>

#include "backend/cuda/cuda.h"
#include "backend/cuda/factor.cuh"
#include "backend/cuda/runtime.h"
#include "kernels/kick.h"
#include "kernels/solver_export.h"
#include "kernels/step.h"
#include "model/view_builder.h"
#include "world/memory.h"
#include "world/row_ops.h"

namespace batchsim {
inline namespace BS_ISA {

template <class B>
__global__ void __launch_bounds__(64)
    world_kernel(const __grid_constant__ DeviceBatch<B> batch, const __grid_constant__ Task task) {
  using T = typename B::Scalar;
  const size_t w = blockIdx.x;
  if (task.mask && !task.mask[w]) return;
  StateView<B> d = batch.view(w);
  extern __shared__ __align__(16) char shared[];
  if (batch.factor_shared) d.factor_work = {reinterpret_cast<T*>(shared)};
  const Team<B> t;
  if (t.leader()) d.was_reset(0, 0) = 0;
  t.sync();
  switch (task.op) {
    case Op::kStep:
    case Op::kForward:
      for (int s = 0; s < task.nstep; s++) step(t, batch.m, d, task.op == Op::kStep);
      if (task.fresh) positions(t, batch.m, d);
      break;
    default:
      for (int i : t.range(0, 3)) {
        d.kick_force[i] = static_cast<const T*>(task.rows)[w * 3 + i];
        d.kick_point[i] = T(task.point[i]);
      }
      t.sync();
      kick(t, batch.m, d, task.body);
      break;
  }
}

// reset, state rows, pushes: a thread a world
template <class B>
__global__ void row_kernel(const __grid_constant__ DeviceBatch<B> batch, const __grid_constant__ Task task) {
  const int w = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (w < batch.nworld && (!task.mask || task.mask[w])) row_op(batch.z, batch.m, batch.rows, w, task);
}

template <class B>
class CudaEngine : public Engine {
 public:
  using T = typename B::Scalar;

  CudaEngine(const FlatModel& flat, const EngineOptions& o, int ordinal)
      : ordinal_(ordinal),
        model_(flat),
        batch_{model_.view(),
               Sizes(flat, o.nconmax, o.njmax, 1, B::chunk),
               TileLayout<B>(Sizes(flat, o.nconmax, o.njmax, 1, B::chunk)),
               {},
               nullptr,
               o.nworld,
               false} {
    select_device();
    plan_factor(flat);
    model_memory_ = DeviceMemory(model_.ints().size() * sizeof(int) + aligned(model_.reals().size() * sizeof(T)) + kAlign);
    move_model();

    const size_t n = o.nworld;
    check_free(rows_bytes(n) + n * batch_.layout.bytes);
    rows_memory_ = DeviceMemory(rows_bytes(n));
    batch_.rows = rows_at(rows_memory_.get(), n);
    world_memory_ = DeviceMemory(n * batch_.layout.bytes);
    batch_.memory = world_memory_.get();
    run({.op = Op::kReset});
    synchronize();
  }

  std::string name() const override {
    cudaDeviceProp p;
    BS_CUDA(cudaGetDeviceProperties(&p, ordinal_));
    return std::string("cuda:") + std::to_string(ordinal_) + ", " + p.name;
  }
  void synchronize() const override {
    select_device();
    BS_CUDA(cudaDeviceSynchronize());
  }
  size_t scratch_bytes() const override { return batch_.layout.bytes * batch_.nworld; }
  size_t bound_bytes() const override { return 0; }

  void run(const Task& task) override {
    select_device();
    const auto stream = static_cast<cudaStream_t>(task.stream);
    if (task.op == Op::kStep || task.op == Op::kForward || task.op == Op::kKickBody)
      world_kernel<B><<<batch_.nworld, B::members, step_shared(), stream>>>(batch_, task);
    else if (task.op == Op::kFactorM)
      launch_factor<true, false>(task.mask, stream);
    else if (task.op == Op::kSolveM)
      launch_factor<false, true>(task.mask, stream);
    else if (task.op == Op::kFactorSolveM)
      launch_factor<true, true>(task.mask, stream);
    else
      row_kernel<B><<<(batch_.nworld + 127) / 128, 128, 0, stream>>>(batch_, task);
    BS_CUDA(cudaGetLastError());
  }

  void* reals(const std::string& field, int* size, ptrdiff_t* stride) override {
    const Sizes& z = batch_.z;
#define X(name, n, doc)      \
  if (field == #name) {      \
    *size = n, *stride = n;  \
    return batch_.rows.name; \
  }
    BS_STATE_FIELDS(X)
#undef X
#define X(name, n, doc)                                                           \
  if (field == #name) {                                                           \
    *size = n, *stride = static_cast<ptrdiff_t>(batch_.layout.bytes / sizeof(T)); \
    return batch_.memory + batch_.layout.name;                                    \
  }
    BS_DERIVED_FIELDS(X)
#undef X
    return nullptr;
  }

  int* ints(const std::string& field) override {
#define X(name, n, doc) \
  if (field == #name) return batch_.rows.name;
    BS_STATE_INTS(X)
#undef X
    return nullptr;
  }

  std::vector<int> read_ints(const std::string& field) const override {
    select_device();
    std::vector<int> v(batch_.nworld);
#define X(name, n, doc) \
  if (field == #name) BS_CUDA(cudaMemcpy(v.data(), batch_.rows.name, v.size() * sizeof(int), cudaMemcpyDeviceToHost));
    BS_STATE_INTS(X)
#undef X
    return v;
  }

  WorldExport export_world(int world) override {
    select_device();
    const DeviceMemory block(batch_.layout.bytes);
    BS_CUDA(cudaMemset(block.get(), 0xff, block.bytes()));  // what a stage forgets to write comes out as NaN
    // a copy of the world's rows, so that the export leaves no trace in them
    const DeviceMemory copy(rows_bytes(1));
    DeviceBatch<B> one = batch_;
    one.memory = block.get();
    one.rows = rows_at(copy.get(), 1);
    const Sizes& z = batch_.z;
#define X(name, size, doc)                                                                                            \
  BS_CUDA(cudaMemcpy(one.rows.name, batch_.rows.name + size_t(world) * (size), size_t(size) * sizeof(*one.rows.name), \
                     cudaMemcpyDeviceToDevice));
    BS_STATE_FIELDS(X)
    BS_STATE_INTS(X)
#undef X
    world_kernel<B><<<1, B::members, step_shared()>>>(one, Task{.op = Op::kForward, .nstep = 1});
    BS_CUDA(cudaGetLastError());
    BS_CUDA(cudaDeviceSynchronize());
    return gather_world(one, block);
  }

  FactorPlan factor_plan() const override { return {batch_.factor_shared, factor_bytes_, factor_members_}; }

 private:
  // shared memory for factor_m where a block may have as much besides the kernels' own, else the world's own memory
  void plan_factor(const FlatModel& flat) {
    const void* const kernels[] = {reinterpret_cast<const void*>(&world_kernel<B>),
                                   reinterpret_cast<const void*>(&factor_kernel<B, true, false, true>),
                                   reinterpret_cast<const void*>(&factor_kernel<B, false, true, true>),
                                   reinterpret_cast<const void*>(&factor_kernel<B, true, true, true>)};
    int most = 0;
    BS_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal_));
    size_t own = 0;
    for (const void* kernel : kernels) {
      cudaFuncAttributes a;
      BS_CUDA(cudaFuncGetAttributes(&a, kernel));
      own = std::max(own, a.sharedSizeBytes);
    }
    factor_bytes_ = factor_shared_bytes<T>(flat);
    batch_.factor_shared = factor_bytes_ + own <= size_t(most) && flat.nv > 0;
    if (!batch_.factor_shared) return;
    // a small tree keeps one warp busy; where its blocks are no more than an SM takes anyway, a second one only adds instructions
    int shared = 0, blocks = 1;
    BS_CUDA(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, ordinal_));
    BS_CUDA(cudaDeviceGetAttribute(&blocks, cudaDevAttrMaxBlocksPerMultiprocessor, ordinal_));
    if ((factor_bytes_ + 1024) * blocks <= size_t(shared)) factor_members_ = 32;
    if (factor_bytes_ + own > 48 * 1024)
      for (const void* kernel : kernels)
        BS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(factor_bytes_)));
  }
  size_t step_shared() const { return batch_.factor_shared ? factor_bytes_ : 0; }

  template <bool Factor, bool Solve>
  void launch_factor(const uint8_t* mask, cudaStream_t stream) {
    if (batch_.factor_shared)
      factor_kernel<B, Factor, Solve, true><<<batch_.nworld, factor_members_, factor_bytes_, stream>>>(batch_, mask);
    else
      factor_kernel<B, Factor, Solve, false><<<batch_.nworld, factor_members_, 0, stream>>>(batch_, mask);
  }

  size_t rows_bytes(size_t n) const {
    const Sizes& z = batch_.z;
    size_t bytes = 0;
#define X(name, size, doc) bytes += aligned(n * size_t(size) * sizeof(T) + 1);
    BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc) bytes += aligned(n * size_t(size) * sizeof(int));
    BS_STATE_INTS(X)
#undef X
    return bytes;
  }
  WorldRows<T> rows_at(char* p, size_t n) const {
    const Sizes& z = batch_.z;
    WorldRows<T> rows;
#define X(name, size, doc)             \
  rows.name = reinterpret_cast<T*>(p); \
  p += aligned(n * size_t(size) * sizeof(T) + 1);
    BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc)               \
  rows.name = reinterpret_cast<int*>(p); \
  p += aligned(n * size_t(size) * sizeof(int));
    BS_STATE_INTS(X)
#undef X
    return rows;
  }

  void select_device() const { BS_CUDA(cudaSetDevice(ordinal_)); }

  void check_free(size_t bytes) const {
    size_t free = 0, total = 0;
    BS_CUDA(cudaMemGetInfo(&free, &total));
    if (bytes <= free) return;
    std::ostringstream s;
    s << "not enough memory on cuda:" << ordinal_ << ": " << (bytes >> 20) << " MiB needed, " << (free >> 20)
      << " MiB free; use fewer worlds or smaller nconmax, njmax";
    throw Error(Error::kCapacity, s.str());
  }

  // the model's arrays onto the device, and the view's pointers after them
  void move_model() {
    char* ints = model_memory_.get();
    char* reals = ints + aligned(model_.ints().size() * sizeof(int));
    BS_CUDA(cudaMemcpy(ints, model_.ints().data(), model_.ints().size() * sizeof(int), cudaMemcpyHostToDevice));
    BS_CUDA(cudaMemcpy(reals, model_.reals().data(), model_.reals().size() * sizeof(T), cudaMemcpyHostToDevice));
    ModelView<B>& v = batch_.m;
#define X(name, rows, cols, doc) v.name = reinterpret_cast<const int*>(ints) + (model_.view().name - model_.ints().data());
    BS_MODEL_INTS(X)
#undef X
#define X(name, rows, cols, doc) v.name = reinterpret_cast<const T*>(reals) + (model_.view().name - model_.reals().data());
    BS_MODEL_REALS(X)
#undef X
  }

  template <class V>
  static std::vector<V> download(const V* p, size_t n) {
    std::vector<V> v(n);
    if (n) BS_CUDA(cudaMemcpy(v.data(), p, n * sizeof(V), cudaMemcpyDeviceToHost));
    return v;
  }

  WorldExport gather_world(const DeviceBatch<B>& one, const DeviceMemory& block) const {
    const Sizes& z = batch_.z;
    std::vector<char> host = download(block.get(), batch_.layout.bytes);
    StateView<B> d = batch_.layout.view(z, host.data());
    WorldExport e;
#define X(name, size, doc)                                \
  {                                                       \
    const auto v = download(one.rows.name, size_t(size)); \
    e.name.assign(v.begin(), v.end());                    \
    std::copy(v.begin(), v.end(), d.name.p);              \
  }
    BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc) e.name.assign(d.name.p, d.name.p + (size));
    BS_DERIVED_FIELDS(X)
#undef X
    e.ncon = d.ncon(0, 0);
    e.con_dist.assign(d.con_dist.p, d.con_dist.p + e.ncon);
    e.con_pos.assign(d.con_pos.p, d.con_pos.p + 3 * e.ncon);
    e.con_frame.assign(d.con_frame.p, d.con_frame.p + 9 * e.ncon);
    for (int c = 0; c < e.ncon; c++) e.con_pair.push_back(d.con_pair(c, 0));
    e.solver_niter = d.solver_niter(0, 0);
    export_constraint(model_.view(), d, 0, e);
    return e;
  }

  int ordinal_;
  size_t factor_bytes_ = 0;  // of shared memory
  int factor_members_ = B::members;
  HostModel<B> model_;
  DeviceBatch<B> batch_;
  DeviceMemory model_memory_, rows_memory_, world_memory_;
};

}  // namespace BS_ISA
}  // namespace batchsim
