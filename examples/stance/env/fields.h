// What the environment keeps of each world, and what it counts: tables from which memory, kernels, checkpoints and logs come.
#pragma once

#include <cstddef>
#include <cstdint>

#include <batchsim/batchsim.h>

#ifdef __CUDACC__
#define BS_ROLL __host__ __device__
#else
#define BS_ROLL
#endif

namespace stance {

// X(name, size, doc): reals of a world, (nworld, size), kept from step to step
#define STANCE_REALS(X)                                           \
  X(phase, 1, "of the bounce, 0 ... 1")                           \
  X(com, 2, "centre of mass after the last control step, m")      \
  X(com_velocity, 2, "its difference over one control step, m/s") \
  X(shove, 2, "force of the present shove, N")                    \
  X(last_action, e.nact, "clipped")                               \
  X(return_so_far, 1, "rewards of this episode")                  \
  X(target, e.width, "reference at the present phase")

// X(name, doc): integers of a world, kept
#define STANCE_INTS(X)                                 \
  X(clock, "control steps of this episode")            \
  X(episode, "episodes of this world before this one") \
  X(level, "of this episode")                          \
  X(countdown, "control steps to the next shove; 0 ... -9: it is on")

// X(name, doc): sums of an iteration over control steps, a real a world
#define STANCE_SUMS(X)                                                \
  X(reward, "of all terms, before the scale")                         \
  X(balance, "squared error of the extrapolated centre of mass, m^2") \
  X(pose, "weighted square of the joint errors, rad^2")               \
  X(height, "of the pelvis, m^2")                                     \
  X(tilt, "of the pelvis, rad^2")                                     \
  X(soles, "m^2")                                                     \
  X(episode_return, "sum of the rewards of episodes that ended")

// X(name, doc): counts of an iteration, an integer a world
#define STANCE_COUNTS(X)                                      \
  X(steps, "control steps")                                   \
  X(falls, "episodes that ended in a fall")                   \
  X(truncations, "episodes that lasted their time")           \
  X(length, "control steps of the episodes that ended")       \
  X(level_falls, "the same of episodes of the present level") \
  X(level_truncations, "")                                    \
  X(level_length, "")                                         \
  X(bad_states, "episodes that ended in a bad state")         \
  X(status, "all status bits of its steps")                   \
  X(ncon_peak, "most contacts asked for")                     \
  X(nefc_peak, "most constraint rows asked for")

// what all worlds share and what changes between control steps, in the device's memory
struct Now {
  uint64_t seed;
  uint32_t step;  // control steps since the start
  int level;      // that worlds get at their next reset
  int index;      // control steps of this rollout
};

// pointers into the device's memory, for kernels
template <class T>
struct EnvView {
  int nworld, nj, nact, nobs, width;
  int first_only;  // count only each world's first episode
  int pelvis, thorax, foot[2], load[2];
  T weight_newton, shove_force;
  // constants
  const int *actuator, *policy_of;          // (nj), (nj): action of a joint, -1: none
  const T *lower, *upper, *weight, *scale;  // (nj), (nj), (nj), (nact)
  const T* table;                           // (levels, phases, width)
  Now* now;
  // the batch
  batchsim::View<T> qpos, qvel, ctrl, xfrc, sensordata, xmat, site, subtree_com;
  batchsim::View<int> batch_status, batch_ncon, batch_nefc;
  // a world's own
#define X(name, size, doc) T* name;
  STANCE_REALS(X)
#undef X
#define X(name, doc) int* name;
  STANCE_INTS(X)
#undef X
#define X(name, doc) T* sum_##name;
  STANCE_SUMS(X)
#undef X
#define X(name, doc) int* count_##name;
  STANCE_COUNTS(X)
#undef X
};

// what a control step leaves; rows a world
template <class T>
struct StepOut {
  T* reward;          // (nworld)
  uint8_t* done;      // (nworld) the episode ended
  T* observation;     // (nworld, nobs) of the state that the next action is for: after a reset, its new state
  T* last;            // (nworld, nobs) of the last state of episodes that ran out of time; others are left as they are
  int* truncated_at;  // (nworld) `index` is written where the episode ran out of time
  int index;
  bool rolling = false;  // in CUDA: the pointers are those of index 0, and Now::index tells where in the rollout this step is

  // of step k of a rollout whose arrays follow each other
  BS_ROLL StepOut at(int k, int nworld, int nobs) const {
    const size_t worlds = size_t(k) * nworld;
    return {reward + worlds, done + worlds, observation + worlds * nobs, last, truncated_at, k};
  }
};

}  // namespace stance
