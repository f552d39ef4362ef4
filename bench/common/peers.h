// Simulators under one stop watch: the same scene, states and controls for each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "batchsim/batch.h"
#include "common/mj_ptr.h"
#include "common/scenes.h"

namespace batchsim::tools {

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  /// All worlds at the start of the scene.
  virtual void start(const Scene& scene) = 0;
  /// nsteps of all worlds with the controls as they are.
  virtual void step(int nstep) = 0;
  virtual void set_ctrl(const std::vector<double>& ctrl) = 0;  // (nworld, nu)
  virtual std::vector<double> qpos() = 0;                      // (nworld, nq)
};

/// batchsim itself; the batch is the caller's
std::unique_ptr<Peer> batchsim_peer(Batch& batch, const std::string& name = "batchsim");
/// mjBatch through its C API; nthread 0: its default
std::unique_ptr<Peer> mjbatch_peer(const mjModel* m, int nworld, int nthread, bool persistent);

struct Timing {
  double wall = 0, cpu = 0;  // s; cpu: of all threads of this process
};
/// nstep steps of the scene from its start.
Timing timed_run(Peer& peer, const Scene& scene, int nstep);
/// Seconds since some moment: steady, and of all this process's threads.
Timing clock_now();

}  // namespace batchsim::tools
