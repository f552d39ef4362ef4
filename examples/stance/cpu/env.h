// The environment on the CPU: a thread takes a tile of worlds through a pass, as the batch does. Included once by each file of an
// instruction set.
#pragma once

#include <algorithm>
#include <functional>

#include "backend/cpu/pool.h"
#include "env/env.h"
#include "env/layout.h"
#include "env/stages.h"

namespace stance {
inline namespace BS_ISA {

// B: tiles. Physics: BatchPhysics, or MujocoPhysics for the comparison
template <class B, class Physics>
class CpuEnv : public Env<typename B::Scalar> {
 public:
  using T = typename B::Scalar;

  CpuEnv(const Body& body, const EnvOptions& o)
      : Env<T>(body, o),
        constants_(body, this->reference_),
        sizes_(described(body, o)),
        physics_(body, o),
        pool_(o.nthread),
        done_(o.nworld) {
    EnvView<T>& e = view_;
    describe(e, body, o);
    constants_.place(e, constants_.ints.data(), constants_.reals.data());
    e.now = &now_;
    now_.seed = o.seed;
    physics_.bind(e);
    reals_.assign(sizes_.reals, 0), ints_.assign(sizes_.ints, 0);
    place(e, reals_.data(), ints_.data());
  }

  const Now* now() const override { return &now_; }
  int64_t physics_steps() const override { return physics_steps_; }
  void set_level(int level) override { now_.level = level; }

  void start(int level, bool staggered, T* observation) override {
    now_.level = level;
    now_.step = 0;
    std::fill(done_.begin(), done_.end(), 1);
    begin_episodes();
    std::fill_n(view_.episode, view_.nworld, 0);
    if (staggered)
      for (int w = 0; w < view_.nworld; w++) {
        const Stream random{now_.seed, now_.step, uint32_t(w)};
        view_.clock[w] = uniform_int(random.words(Purpose::kStart, 0).v[2], 0, int(task::episode_steps));
      }
    observe_new(observation);
    now_.step = 1;
    clear_counts();
  }

  void step(const T* action, const StepOut<T>& out) override {
    const Team<B> t;
    const EnvView<T>& e = view_;
    for_tiles([&](Tile<B> w) {
      for (int l = 0; l < B::width && w.first + l < w.nworld; l++) {
        e.phase[w.first + l] = next_phase(e.phase[w.first + l]);
        look_up_all(w.first + l);
      }
      act(t, e, w, action);
    });
    physics_.step();
    physics_steps_ += int(task::substeps);
    for_tiles([&](Tile<B> w) {
      judge(t, e, w, action, out);
      const auto late = w.where([&](int world) { return out.truncated_at[world] == out.index; });
      if (any(late)) observe(t, e, w, out.last, late);
      for (int l = 0; l < B::width && w.first + l < w.nworld; l++) done_[w.first + l] = out.done[w.first + l];
    });
    begin_episodes();
    observe_new(out.observation);
    now_.step++;
  }

  Shove shove(int world) const override {
    const int c = view_.countdown[world];
    if (c > 0 || c <= -int(task::shove_steps)) return {};
    return {double(view_.shove[2 * world]), double(view_.shove[2 * world + 1])};
  }
  void export_mjdata(int world, mjData* d) const override { physics_.export_mjdata(world, d); }

  EnvStats take_stats() override {
    EnvStats s;
    const int n = view_.nworld;
    // in the order of the worlds: the same sum whatever the number of threads
#define X(name, doc) \
  for (int w = 0; w < n; w++) s.name += view_.sum_##name[w];
    STANCE_SUMS(X)
#undef X
#define X(name, doc) \
  for (int w = 0; w < n; w++) s.name += view_.count_##name[w];
    STANCE_COUNTS(X)
#undef X
    s.status = 0, s.ncon_peak = 0, s.nefc_peak = 0;
    for (int w = 0; w < n; w++) {
      s.status |= view_.count_status[w];
      s.worlds_dropped += (view_.count_status[w] & (batchsim::kContactsDropped | batchsim::kRowsDropped)) != 0;
      s.ncon_peak = std::max<int64_t>(s.ncon_peak, view_.count_ncon_peak[w]);
      s.nefc_peak = std::max<int64_t>(s.nefc_peak, view_.count_nefc_peak[w]);
    }
    clear_counts();
    return s;
  }

  std::vector<double> save() const override {
    std::vector<double> v(reals_.begin(), reals_.begin() + sizes_.kept_reals);
    v.insert(v.end(), ints_.begin(), ints_.begin() + sizes_.kept_ints);
    physics_.save(v);
    v.insert(v.end(), {double(now_.step), double(now_.level), double(physics_steps_)});
    return v;
  }
  void restore(const std::vector<double>& saved) override {
    if (saved.size() != sizes_.kept_reals + sizes_.kept_ints + physics_.saved_size() + 3)
      throw batchsim::Error(batchsim::Error::kInput, "the saved environment is of another body or number of worlds");
    const double* from = saved.data();
    const auto take = [&](auto to, size_t count) {
      std::copy_n(from, count, to);
      from += count;
    };
    take(reals_.begin(), sizes_.kept_reals), take(ints_.begin(), sizes_.kept_ints);
    physics_.restore(from);
    from += physics_.saved_size();
    now_.step = uint32_t(from[0]), now_.level = int(from[1]);
    physics_steps_ = int64_t(from[2]);
    clear_counts();
  }

 private:
  template <class F>
  void for_tiles(F f) {
    pool_.run((view_.nworld + B::width - 1) / B::width, [&](int tile, int) { f(Tile<B>{tile * B::width, view_.nworld}); });
  }

  void look_up_all(int world) {
    const Team<B> t;
    if (!this->options_.separate_tables) return look_up(t, view_, world, 0, view_.width);
    const std::vector<int> at = Reference::columns(view_.nj);
    for (size_t table = 0; table + 1 < at.size(); table++) look_up(t, view_, world, at[table], at[table + 1]);
  }

  // new episodes in the worlds of done_
  void begin_episodes() {
    if (std::none_of(done_.begin(), done_.end(), [](uint8_t d) { return d; })) return;
    physics_.reset(done_.data());
    const Team<B> t;
    for (int w = 0; w < view_.nworld; w++)
      if (done_[w]) restart(t, view_, w);
    physics_.forward(done_.data());
    for (int w = 0; w < view_.nworld; w++)
      if (done_[w]) settle(t, view_, w);
  }

  void observe_new(T* observation) {
    for_tiles([&](Tile<B> w) { observe(Team<B>(), view_, w, observation, w.live()); });
  }

  void clear_counts() {
    std::fill(reals_.begin() + sizes_.kept_reals, reals_.end(), T(0));
    std::fill(ints_.begin() + sizes_.kept_ints, ints_.end(), 0);
    physics_.clear_status();
  }

  static EnvView<T> described(const Body& b, const EnvOptions& o) {
    EnvView<T> e{};
    describe(e, b, o);
    return e;
  }

  EnvConstants<T> constants_;
  EnvSizes sizes_;
  Physics physics_;
  batchsim::Pool pool_;
  std::vector<uint8_t> done_;
  std::vector<T> reals_;
  std::vector<int> ints_;
  Now now_{};
  int64_t physics_steps_ = 0;
  EnvView<T> view_{};
};

}  // namespace BS_ISA
}  // namespace stance
