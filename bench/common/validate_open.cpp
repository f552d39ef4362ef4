#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "../tests/tolerances.h"
#include "common/progress.h"
#include "common/stats.h"
#include "common/table.h"
#include "common/validate.h"

namespace batchsim::tools {
namespace {

constexpr int kChunk = 4;          // steps that MuJoCo goes ahead
constexpr int kFieldStates = 240;  // at least, where the run has as many
constexpr int kFieldWorlds = 8;    // f32: along the run
constexpr int kSamples = 10;       // rows of the table over time
constexpr double kNever = std::numeric_limits<double>::infinity();

std::string state_name(int world, double time) { return "world " + std::to_string(world) + " at " + format("%.3f s", time); }

// exports a state's fields, and MuJoCo's own, into the table
class FieldSampler {
 public:
  FieldSampler(Sides& s, OpenLoop& r, const ValidateOptions& o)
      : s_(s),
        r_(r),
        exact_(o.precision == Precision::f64),
        ours_(make_data(m())),
        theirs_(make_data(m())),
        one_(s.single()),
        rows_(one_) {
    const int nworld = exact_ ? s.scene.nworld : std::min(s.scene.nworld, kFieldWorlds);
    worlds_ = nworld;
    const int times = (kFieldStates + nworld - 1) / nworld, nchunk = (s.scene.nstep + kChunk - 1) / kChunk;
    every_ = std::max(1, nchunk / times);
    r.exact_states = exact_;
  }
  // the present states, before the first step of a chunk; f32: those of the batch, which has drifted
  void sample(int chunk) {
    if (chunk % every_) return;
    const double time = chunk * kChunk * m()->opt.timestep;
    for (int w = 0; w < worlds_; w++) {
      const double* row = s_.reference.state(0, w);
      set_state_row(m(), theirs_.get(), row);
      mj_forward(m(), theirs_.get());
      if (exact_) {
        set_single_world(rows_, m(), s_.reference.layout(), row);
        one_.export_mjdata(0, ours_.get());
      } else {
        s_.batch.export_mjdata(w, ours_.get());
      }
      r_.fields.compare(m(), ours_.get(), theirs_.get(), state_name(w, time));
    }
  }

 private:
  const mjModel* m() const { return s_.reference_model.get(); }
  Sides& s_;
  OpenLoop& r_;
  bool exact_;
  DataPtr ours_, theirs_;
  Batch one_;
  HostRows rows_;
  int worlds_ = 1, every_ = 1;
};

// when MuJoCo, started kTwinStart away from itself, passes the bound
std::vector<double> twin_crossings(const Sides& s, const std::vector<int>& worlds, double bound, const ValidateOptions& o) {
  const mjModel* m = s.reference_model.get();
  const Scene scene = selected(s.scene, worlds);
  Reference a(m, scene, o.nthread), b(m, scene, o.nthread);
  const std::vector<double> shift(m->nv, tolerances::kTwinStart);
  for (int w = 0; w < scene.nworld; w++) mj_integratePos(m, b.start(w) + a.layout().qpos, shift.data(), 1);
  std::vector<double> first(worlds.size(), kNever);
  Progress progress("MuJoCo beside itself", scene.nstep, o.progress);
  for (int step = 0; step < scene.nstep; step += kChunk) {
    const int n = std::min(kChunk, scene.nstep - step), q = a.layout().qpos;
    a.advance(n), b.advance(n);
    for (int i = 1; i <= n; i++)
      for (int w = 0; w < scene.nworld; w++)
        if (first[w] == kNever && s.pose.error(b.state(i, w) + q, a.state(i, w) + q).joint > bound)
          first[w] = (step + i) * m->opt.timestep;
    progress.at(step + n);
  }
  return first;
}

// MuJoCo with its state rounded to float after each step
class RoundedReference {
 public:
  RoundedReference(const Sides& s, const ValidateOptions& o) : m_(s.reference_model.get()), reference_(m_, s.scene, o.nthread) {
    for (int w = 0; w < s.scene.nworld; w++) round_state(m_, reference_.layout(), reference_.start(w));
  }
  void advance(int nstep) {
    reference_.advance(nstep, [this](int, int, mjData* d) {
      round_to_float(d->qpos, m_->nq);
      round_to_float(d->qvel, m_->nv);
      round_to_float(d->act, m_->na);
      round_to_float(d->qacc_warmstart, m_->nv);
    });
  }
  const double* qpos(int s, int world) const { return reference_.state(s, world) + reference_.layout().qpos; }

 private:
  const mjModel* m_;
  Reference reference_;
};

void judge_f64(const Sides& s, const ValidateOptions& o, OpenLoop& r) {
  r.promised = true;
  r.promise = tolerances::kJointF64;
  r.reached = r.joint_worst;
  const Crossing& c = r.crossings[0];
  for (int w = 0; w < r.nworld; w++)
    if (c.first[w] != kNever) r.left.push_back(w);
  if (!r.left.empty()) r.twin_left = twin_crossings(s, r.left, r.promise, o);
  r.joints_good = double(r.nworld - int(r.left.size())) >= tolerances::kJointF64Share * r.nworld;
  for (size_t i = 0; i < r.left.size(); i++) {
    if (r.twin_left[i] == kNever) r.joints_good = false;
    if (!r.fell.empty() && c.first[r.left[i]] < r.fell[r.left[i]]) r.joints_good = false;
  }
  r.good = r.joints_good && r.fields.good();
}

void judge_f32(const ValidateOptions& o, OpenLoop& r) {
  const double floor = median(r.floor_end);
  r.promise = floor <= tolerances::kFloorOwn ? tolerances::kMedianEndF32 : tolerances::kFloorTimes * floor;
  const bool stood = std::none_of(r.fell.begin(), r.fell.end(), [](double t) { return t != kNever; });
  // a landing or a slip enlarges rounding
  const bool calm =
      o.situation == Situation::free || (o.situation == Situation::none ? !r.touched : stood && o.situation != Situation::heap);
  r.promised = calm && floor < tolerances::kFloorUseless;
  r.reached = median(r.joint_end);
  r.joints_good = !r.promised || r.reached <= r.promise;
  r.good = r.joints_good;
}

}  // namespace

OpenLoop validate_open_loop(Sides& s, const ValidateOptions& o) {
  const mjModel* m = s.reference_model.get();
  const Scene& scene = s.scene;
  const StateLayout& at = s.reference.layout();
  const bool f64 = o.precision == Precision::f64;
  OpenLoop r(s.model);
  r.nworld = scene.nworld, r.nstep = scene.nstep, r.timestep = m->opt.timestep, r.hinges = s.pose.hinges();
  for (double bound : {f64 ? tolerances::kJointF64 : tolerances::kMedianEndF32, 1e-6, 1e-3, 1e-1})
    r.crossings.push_back({bound, std::vector<double>(scene.nworld, kNever)});
  r.joint_end.resize(scene.nworld);
  if (scene.stand_height > 0) r.fell.assign(scene.nworld, kNever);

  FieldSampler fields(s, r, o);
  std::unique_ptr<RoundedReference> rounded;
  if (!f64) rounded = std::make_unique<RoundedReference>(s, o);
  Progress progress("open loop", scene.nstep, o.progress);
  for (int step = 0; step < scene.nstep; step += kChunk) {
    const int n = std::min(kChunk, scene.nstep - step);
    std::atomic<bool> touched = false;
    s.reference.advance(n, [&](int, int, mjData* d) {
      if (d->ncon) touched = true;
    });
    r.touched = r.touched || touched;
    if (rounded) rounded->advance(n);
    for (int i = 0; i < n; i++) {
      s.rows.apply(scene, step + i);
      if (i == 0) fields.sample(step / kChunk);
      s.batch.step();
      const std::vector<double> qpos = s.rows.get("qpos"), qvel = s.rows.get("qvel");
      const double time = (step + i + 1) * r.timestep;
      OpenLoop::Sample worst{time, 0, 0, 0, 0, 0};
      for (int w = 0; w < scene.nworld; w++) {
        const double* row = s.reference.state(i + 1, w);
        const PoseError e = s.pose.error(&qpos[size_t(w) * scene.nq], row + at.qpos);
        for (Crossing& c : r.crossings)
          if (!(e.joint <= c.bound) && c.first[w] == kNever) c.first[w] = time;
        r.joint_end[w] = e.joint;
        worst.joint = std::max(worst.joint, e.joint), worst.pos = std::max(worst.pos, e.pos),
        worst.rot = std::max(worst.rot, e.rot);
        for (int k = 0; k < scene.nv; k++)
          worst.qvel = std::max(worst.qvel, std::abs(qvel[size_t(w) * scene.nv + k] - row[at.qvel + k]));
        if (!r.fell.empty() && r.fell[w] == kNever && !scene.stands(row + at.qpos)) r.fell[w] = time;
      }
      worst.joint_median = median(r.joint_end);
      r.joint_worst = std::max(r.joint_worst, worst.joint);
      if ((step + i + 1) * kSamples / scene.nstep > (step + i) * kSamples / scene.nstep) r.samples.push_back(worst);
    }
    if (rounded && step + n == scene.nstep)
      for (int w = 0; w < scene.nworld; w++)
        r.floor_end.push_back(s.pose.error(rounded->qpos(n, w), s.reference.state(n, w) + at.qpos).joint);
    progress.at(step + n);
  }
  progress.clear();
  r.report = s.batch.report();
  if (f64)
    judge_f64(s, o, r);
  else
    judge_f32(o, r);
  // what was dropped did not act: whatever the errors, this is not MuJoCo's result
  r.good = r.good && !r.report.overflow();
  // nor does a state that went bad say anything, here or there
  r.good = r.good && !r.report.worlds_bad_state && std::isfinite(r.reached);
  return r;
}

}  // namespace batchsim::tools
