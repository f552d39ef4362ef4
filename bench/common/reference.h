// CPU MuJoCo stepping the worlds of a scene, and how far a pose is from its own.
#pragma once

#include <functional>
#include <vector>

#include "common/parallel.h"
#include "common/scenes.h"

namespace batchsim::tools {

/// MuJoCo solves to the last digit: at its default tolerance it is up to 3.5e-6 rad a step from its own solution, at 1e-15 still 1e-9. (With
/// 0 it would run through all its iterations.)
void tighten(mjModel* m);

/// Where the parts of a state row (mjSTATE_INTEGRATION) are.
struct StateLayout {
  int size = 0, qpos = 0, qvel = 0, act = 0, warmstart = 0, ctrl = 0, xfrc = 0;
  explicit StateLayout(const mjModel* m);
};

/// How far poses are apart: joint: hinge angles (rad), or where a model has none position and rotation; pos (m), rot (rad): of free joints.
struct PoseError {
  double joint = 0, pos = 0, rot = 0;
};
class PoseMap {
 public:
  explicit PoseMap(const mjModel* m);
  PoseError error(const double* qpos, const double* reference) const;
  bool hinges() const { return !hinge_.empty(); }

 private:
  std::vector<int> hinge_, free_;  // addresses in qpos
};

void round_to_float(double* x, int n);
/// The parts of a state row that a float engine stores, rounded.
void round_state(const mjModel* m, const StateLayout& at, double* row);

/// MuJoCo's side of a comparison: all worlds of a scene, a state row each.
class Reference {
 public:
  using AfterStep = std::function<void(int world, int step, mjData* d)>;

  /// m as situation_model makes it; it must outlive this.
  Reference(const mjModel* m, const Scene& scene, int nthread);

  /// The next nstep steps; after_step runs on the thread that steps the world.
  void advance(int nstep, const AfterStep& after_step = {});

  int step() const { return step_; }
  /// The state before step s of the last advance, with the controls and forces of that step; s = nstep: after it, without them.
  const double* state(int s, int world) const { return &rows_[(size_t(s) * scene_.nworld + world) * at_.size]; }
  /// Present states, to be changed by the caller.
  double* start(int world) { return &now_[size_t(world) * at_.size]; }
  const StateLayout& layout() const { return at_; }
  MjWorkers& workers() { return workers_; }

 private:
  const mjModel* m_;
  const Scene& scene_;
  StateLayout at_;
  MjWorkers workers_;
  int step_ = 0;
  std::vector<double> now_, rows_;  // (nworld, size), (nstep + 1, nworld, size)
};

/// Bring d to a state row.
void set_state_row(const mjModel* m, mjData* d, const double* row);

}  // namespace batchsim::tools
