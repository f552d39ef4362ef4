// The learner: what it takes from a rollout, and how it improves the policy. One implementation for the CPU, one for CUDA.
#pragma once

#include <memory>

#include "env/fields.h"
#include "policy.h"
#include "ppo/settings.h"

namespace stance {

struct LearnerOptions {
  int nworld = 128, nthread = 1;
  uint64_t seed = 1;         ///< of the noise and of the order of minibatches
  const Now* now = nullptr;  ///< in CUDA: the environment's counters, in place of the arguments step, t and iteration
  void* stream = nullptr;    ///< cudaStream_t that all work is queued on
};

/// What an update did.
struct UpdateStats {
  double kl = 0;                           ///< mean of the last epoch's minibatches
  double surrogate = 0;                    ///< mean policy loss
  double value_loss = 0;                   ///< mean square error
  double actor_rate = 0;                   ///< for the next update
  double noise_std = 0;                    ///< mean over actions
  double actor_norm = 0, critic_norm = 0;  ///< gradients before they are cut, of the last minibatch
  int epochs = 0;                          ///< done before the stop
};

template <class T>
class Learner {
 public:
  virtual ~Learner() = default;

  /// (nworld, nobs), in the device's memory: observation for the first action of the next rollout.
  virtual T* first_observation() = 0;
  /// The very first observations of a run start the statistics that they are normalised with.
  virtual void begin() = 0;
  /// Actions (nworld, nact) for step t of the horizon; `step` counts control steps since the start and picks the noise.
  virtual const T* act(int t, uint32_t step) = 0;
  /// Mean actions for the first observation, and nothing kept.
  virtual const T* mean_action() = 0;
  /// Where the environment leaves what step t led to.
  virtual StepOut<T> out(int t) = 0;
  /// Learns from the rollout; the observation after its last step becomes the first of the next one. In CUDA: queued, and able to be
  /// captured in a graph.
  virtual void update(uint32_t iteration) = 0;
  /// What the last update did; waits for the device.
  virtual UpdateStats take_stats() = 0;
  /// Gradient by all parameters (actor, log_std, critic) of the last minibatch, before it is cut; for tests.
  virtual std::vector<double> last_gradient() const = 0;

  virtual Policy policy() const = 0;
  /// Parameters, Adam's moments, statistics, rate: all that later results depend on. Between two iterations.
  virtual std::vector<double> save() const = 0;
  virtual void restore(const std::vector<double>& saved) = 0;
};

/// The learner starts from a policy.
template <class T>
std::unique_ptr<Learner<T>> make_learner(const Policy& start, const PpoSettings& settings, const LearnerOptions& options,
                                         const std::string& device);

/// Orthogonal weights (gain sqrt 2 in hidden layers, 0.01 for actions, 1 for the value), biases of zero.
Policy new_policy(const std::string& body, int nobs, int nact, const PpoSettings& settings, uint64_t seed);

}  // namespace stance
