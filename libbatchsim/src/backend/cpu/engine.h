// The CPU engine: a thread takes one tile of worlds through all stages, in scratch of its own that stays in its cache.
//
// Included once by each file of an instruction set (pack_avx2_8.cpp, ...), in that file's inline namespace.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "backend/cpu/cpu.h"
#include "backend/cpu/pool.h"
#include "kernels/kick.h"
#include "kernels/solver_export.h"
#include "kernels/step.h"
#include "model/view_builder.h"
#include "world/memory.h"
#include "world/row_ops.h"

namespace batchsim {
inline namespace BS_ISA {

// pages that the kernel hands out when they are first touched: slots that no world uses cost nothing
class Pages {
 public:
  explicit Pages(size_t bytes) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw Error(Error::kCapacity, out_of_memory(bytes));
    p_ = static_cast<char*>(p);
  }
  Pages(Pages&& o) noexcept : p_(std::exchange(o.p_, nullptr)), bytes_(o.bytes_) {}
  ~Pages() {
    if (p_) munmap(p_, bytes_);
  }
  char* get() const { return p_; }
  size_t bytes() const { return bytes_; }

 private:
  char* p_;
  size_t bytes_;
};

template <class B>
class CpuEngine : public Engine {
 public:
  using T = typename B::Scalar;
  static constexpr int W = B::width;

  CpuEngine(const FlatModel& flat, int nworld, int nconmax, int njmax, int nthread, std::string name)
      : z_(flat, nconmax, njmax, W, B::chunk), nworld_(nworld), name_(std::move(name)), model_(flat), layout_(z_), pool_(nthread) {
    for (int i = 0; i < pool_.size(); i++) scratch_.emplace_back(layout_.bytes);
    const auto& z = z_;
    size_t bytes = 0;
#define X(name, size, doc) bytes += aligned(size_t(nworld_) * size_t(size) * sizeof(T) + 1);
    BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc) bytes += aligned(size_t(nworld_) * sizeof(int));
    BS_STATE_INTS(X)
#undef X
    rows_memory_.emplace(bytes);
    char* p = rows_memory_->get();
#define X(name, size, doc)              \
  rows_.name = reinterpret_cast<T*>(p); \
  p += aligned(size_t(nworld_) * size_t(size) * sizeof(T) + 1);
    BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc)                \
  rows_.name = reinterpret_cast<int*>(p); \
  p += aligned(size_t(nworld_) * sizeof(int));
    BS_STATE_INTS(X)
#undef X
    run({.op = Op::kReset});
  }

  std::string name() const override { return name_; }
  void synchronize() const override {}
  size_t scratch_bytes() const override { return layout_.bytes * scratch_.size(); }
  FactorPlan factor_plan() const override { return {}; }
  size_t bound_bytes() const override {
    size_t bytes = 0;
#define X(name, size, doc) \
  if (derived_.name) bytes += derived_.name->bytes();
    BS_DERIVED_FIELDS(X)
#undef X
    return bytes;
  }

  void run(const Task& task) override {
    if (task.op == Op::kStep || task.op == Op::kForward || task.op == Op::kKickBody) {
      pool_.run((nworld_ + W - 1) / W, [&](int tile, int thread) { run_tile(tile, scratch_[thread].get(), task); });
    } else {
      for (int w = 0; w < nworld_; w++)
        if (!task.mask || task.mask[w]) row_op(z_, model_.view(), rows_, w, task);
    }
  }

  void* reals(const std::string& field, int* size, ptrdiff_t* stride) override {
    const auto& z = z_;
#define X(name, n, doc)     \
  if (field == #name) {     \
    *size = n, *stride = n; \
    return rows_.name;      \
  }
    BS_STATE_FIELDS(X)
#undef X
#define X(name, n, doc)                            \
  if (field == #name) {                            \
    *size = n, *stride = n;                        \
    return bound_memory(derived_.name, size_t(n)); \
  }
    BS_DERIVED_FIELDS(X)
#undef X
    return nullptr;
  }

  int* ints(const std::string& field) override {
#define X(name, n, doc) \
  if (field == #name) return rows_.name;
    BS_STATE_INTS(X)
#undef X
    return nullptr;
  }

  std::vector<int> read_ints(const std::string& field) const override {
#define X(name, n, doc) \
  if (field == #name) return {rows_.name, rows_.name + nworld_};
    BS_STATE_INTS(X)
#undef X
    return {};
  }

  WorldExport export_world(int world) override {
    Pages scratch(layout_.bytes);
    std::memset(scratch.get(), 0xff, layout_.bytes);  // what a stage forgets to write comes out as NaN
    StateView<B> d = layout_.view(z_, scratch.get());
    const int tile = world / W, lane = world % W;
    load(d, tile);
    forward(Team<B>(), model_.view(), d);
    return gather_world(d, lane);
  }

 private:
  struct DerivedRows {
#define X(name, size, doc) std::optional<Pages> name;
    BS_DERIVED_FIELDS(X)
#undef X
  };

  T* bound_memory(std::optional<Pages>& pages, size_t n) {
    if (!pages) pages.emplace(size_t(nworld_) * n * sizeof(T) + 1);
    return reinterpret_cast<T*>(pages->get());
  }

  // the world in a lane; lanes beyond the last world work on a copy of it
  size_t world_of(int tile, int lane) const { return std::min(tile * W + lane, nworld_ - 1); }

  void run_tile(int tile, char* scratch, const Task& task) {
    unsigned active = 0;
    for (int l = 0; l < W && tile * W + l < nworld_; l++)
      if (!task.mask || task.mask[tile * W + l]) active |= 1u << l;
    if (!active) return;

    StateView<B> d = layout_.view(z_, scratch);
    if constexpr (requires { B::forget_names(); }) {
      B::forget_names();
      layout_.for_each(z_, [&](const char* name, size_t begin, size_t end) { B::name(name, scratch + begin, scratch + end); });
    }
    load(d, tile);
    const Team<B> t;
    switch (task.op) {
      case Op::kStep:
      case Op::kForward:
        for (int s = 0; s < task.nstep; s++) step(t, model_.view(), d, task.op == Op::kStep);
        if (task.fresh) positions(t, model_.view(), d);
        break;
      default:
        for (int l = 0; l < W; l++)
          for (int i = 0; i < 3; i++) {
            B::set(d.kick_force, i, l, static_cast<const T*>(task.rows)[world_of(tile, l) * 3 + i]);
            B::set(d.kick_point, i, l, T(task.point[i]));
          }
        kick(t, model_.view(), d, task.body);
        break;
    }
    store(d, tile, active);
  }

  void load_rows(typename B::RealRow to, const T* from, int n, int tile) {
    for (int l = 0; l < W; l++) {
      const T* row = from + world_of(tile, l) * n;
      for (int i = 0; i < n; i++) B::set(to, i, l, row[i]);
    }
  }
  void store_rows(typename B::RealRow from, T* to, int n, int tile, unsigned lanes) {
    for (int l = 0; l < W; l++) {
      if (!(lanes >> l & 1)) continue;
      T* row = to + world_of(tile, l) * n;
      for (int i = 0; i < n; i++) row[i] = B::get(from, i, l);
    }
  }

  void load(StateView<B>& d, int tile) {
    const auto& z = z_;
#define X(name, size, doc) load_rows(d.name, rows_.name, size, tile);
    BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc) \
  for (int l = 0; l < W; l++) B::at(d.name, 0, l) = rows_.name[world_of(tile, l)];
    BS_STATE_INTS(X)
#undef X
    for (int l = 0; l < W; l++) B::at(d.was_reset, 0, l) = 0;
  }

  void store(StateView<B>& d, int tile, unsigned lanes) {
    const auto& z = z_;
    store_rows(d.time, rows_.time, 1, tile, lanes);
    store_rows(d.time_carry, rows_.time_carry, 1, tile, lanes);
    store_rows(d.qpos, rows_.qpos, z.nq, tile, lanes);
    store_rows(d.qvel, rows_.qvel, z.nv, tile, lanes);
    store_rows(d.act, rows_.act, z.na, tile, lanes);
    store_rows(d.qacc_warmstart, rows_.qacc_warmstart, z.nv, tile, lanes);
    store_rows(d.sensordata, rows_.sensordata, z.nsensordata, tile, lanes);
    unsigned reset = 0;
    for (int l = 0; l < W; l++)
      if (B::at(d.was_reset, 0, l)) reset |= 1u << l;
    if (reset &= lanes) {  // a reset zeroes the inputs too
      store_rows(d.ctrl, rows_.ctrl, z.nu, tile, reset);
      store_rows(d.qfrc_applied, rows_.qfrc_applied, z.nv, tile, reset);
      store_rows(d.xfrc_applied, rows_.xfrc_applied, 6 * z.nbody, tile, reset);
    }
#define X(name, size, doc)    \
  for (int l = 0; l < W; l++) \
    if (lanes >> l & 1) rows_.name[world_of(tile, l)] = B::at(d.name, 0, l);
    BS_STATE_INTS(X)
#undef X
#define X(name, size, doc) \
  if (derived_.name) store_rows(d.name, reinterpret_cast<T*>(derived_.name->get()), size, tile, lanes);
    BS_DERIVED_FIELDS(X)
#undef X
  }

  WorldExport gather_world(StateView<B>& d, int lane) {
    WorldExport e;
    const auto& z = z_;
    const auto take = [&](typename B::RealRow row, int n) {
      std::vector<double> v(n);
      for (int i = 0; i < n; i++) v[i] = B::get(row, i, lane);
      return v;
    };
#define X(name, size, doc) e.name = take(d.name, size);
    BS_STATE_FIELDS(X)
    BS_DERIVED_FIELDS(X)
#undef X
    e.ncon = B::at(d.ncon, 0, lane);
    e.con_dist = take(d.con_dist, e.ncon);
    e.con_pos = take(d.con_pos, 3 * e.ncon);
    e.con_frame = take(d.con_frame, 9 * e.ncon);
    for (int c = 0; c < e.ncon; c++) e.con_pair.push_back(B::at(d.con_pair, c, lane));
    e.solver_niter = B::at(d.solver_niter, 0, lane);
    export_constraint(model_.view(), d, lane, e);
    return e;
  }

  Sizes z_;
  int nworld_;
  std::string name_;
  HostModel<B> model_;
  TileLayout<B> layout_;
  Pool pool_;
  std::vector<Pages> scratch_;  // one a thread
  std::optional<Pages> rows_memory_;
  WorldRows<T> rows_{};
  DerivedRows derived_;
};

}  // namespace BS_ISA
}  // namespace batchsim
