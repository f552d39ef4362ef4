// The environment: many worlds of a body that does the stance, on the device of their batch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "body.h"
#include "env/fields.h"
#include "reference.h"

namespace stance {

struct EnvOptions {
  int nworld = 128;
  std::string device = "cpu";
  int nthread = 1;               ///< on the CPU
  int nconmax = 0, njmax = 0;    ///< slots a world, as in batchsim::BatchOptions; 0: the model's default
  uint64_t seed = 1;             ///< of resets and shoves; a world draws the same numbers whatever the other worlds do
  double shove_factor = 1;       ///< times the task's force
  bool first_only = false;       ///< count only each world's first episode
  void* stream = nullptr;        ///< cudaStream_t that all work is queued on
  bool separate_tables = false;  ///< look the eight tables of the reference up one by one (to measure what merging them saves)
};

/// What an iteration saw, all worlds together.
struct EnvStats {
#define X(name, doc) double name = 0;
  STANCE_SUMS(X)
#undef X
#define X(name, doc) int64_t name = 0;
  STANCE_COUNTS(X)
#undef X
  int worlds_dropped = 0;  ///< worlds that dropped contacts or rows
};

struct Shove {
  double x = 0, y = 0;  ///< N, world axes
};

/// T: float or double, the precision of batch and observations. Rows are in the device's memory.
template <class T>
class Env {
 public:
  virtual ~Env();
  const Body& body() const { return body_; }
  const Reference& reference() const { return reference_; }
  const EnvOptions& options() const { return options_; }

  /// All worlds start an episode at a level. staggered: with clocks drawn from 0 ... 499, so that they do not all end at once.
  virtual void start(int level, bool staggered, T* observation) = 0;
  /// Level of the episodes that start from now on.
  virtual void set_level(int level) = 0;
  /// One control step: action (nworld, nact); null: no action. In CUDA: queued, and able to be captured in a graph.
  virtual void step(const T* action, const StepOut<T>& out) = 0;
  /// Sums and counts since the last call; waits for the device.
  virtual EnvStats take_stats() = 0;
  /// Force on the thorax of a world at present; waits for the device.
  virtual Shove shove(int world) const = 0;
  /// A world's state and what follows from it, for a picture.
  virtual void export_mjdata(int world, mjData* d) const = 0;
  /// Counters of steps, in the device's memory, for the learner.
  virtual const Now* now() const = 0;
  /// Physics timesteps of every world so far.
  virtual int64_t physics_steps() const = 0;

  /// All that later steps depend on, between two iterations.
  virtual std::vector<double> save() const = 0;
  virtual void restore(const std::vector<double>& saved) = 0;

 protected:
  Env(const Body& body, const EnvOptions& options);
  Body body_;
  Reference reference_;
  EnvOptions options_;
};

/// Throws batchsim::Error for what the options get wrong.
template <class T>
std::unique_ptr<Env<T>> make_env(const Body& body, const EnvOptions& options);

/// The same environment on MuJoCo's own stepping, in double, on the CPU: to check a policy where it does not come from.
std::unique_ptr<Env<double>> make_mujoco_env(const Body& body, const EnvOptions& options);

}  // namespace stance
