// A training run in a folder: log.csv, TensorBoard events and checkpoint.bss, until it is solved, out of time or interrupted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "eval/evaluate.h"
#include "policy.h"
#include "ppo/settings.h"
#include "train/trainer.h"

namespace stance {

struct RunOptions {
  std::string body = "stick";  ///< name or path
  std::string out;             ///< folder; made if it is not there
  std::string device = "cpu";
  uint64_t seed = 1;
  int nworld = 0;                ///< 0: the body's default
  int nthread = 0;               ///< on the CPU; 0: one a logical processor
  int nconmax = 0, njmax = 0;    ///< contacts and constraint rows that a world has room for; 0: the model's default
  std::vector<std::string> ppo;  ///< changes of the body's settings, "name=value"
  bool f64 = false;              ///< physics and networks in double
  bool separate_tables = false;
  Graphs graphs;        ///< in CUDA; changes no bit
  bool resume = false;  ///< go on from the checkpoint in `out`; all of the above but out, nthread and graphs are the checkpoint's
  int iterations = 0;   ///< stop after this many in all; 0: no limit
  double max_minutes = 0;     ///< stop after this time of this process; 0: no limit
  int checkpoint_every = 25;  ///< iterations
  int examine = 256;          ///< episodes of an examination; 0: none, solved by the curriculum is enough
};

struct RunResult {
  bool solved = false;  ///< and examined
  bool interrupted = false;
  int iterations = 0;
  int64_t control_steps = 0;
  double seconds = 0;      ///< of training, all processes of the run together
  Evaluation examination;  ///< that it passed, if it is solved and was examined
};

/// What progress shows after an iteration.
struct Shown {
  const Iteration& iteration;
  const Curriculum& curriculum;
  double seconds = 0;                       ///< of the run so far
  double steps_per_second = 0;              ///< control steps
  std::string overflow;                     ///< what did not fit and what to do; empty if all did
  const Evaluation* examination = nullptr;  ///< if there was one
};

/// The stance is solved when the curriculum says so of the noisy policy and an examination of the mean one does: the task's evaluation
/// with another seed, on every eighth iteration while the first holds.
/// stop() is asked after each iteration. Throws batchsim::Error for what the options get wrong, what cannot be written, a checkpoint
/// that does not fit, and numbers that are not finite.
RunResult train(const RunOptions& options, const std::function<void(const Shown&)>& show, const std::function<bool()>& stop);

/// The policy of a checkpoint, or of the checkpoint in a run's folder; body: the model that it was trained with.
struct Trained {
  Policy policy;
  std::string body;  ///< name or path
  double iterations = 0;
};
Trained load_trained(const std::string& path);
/// checkpoint.bss in a run's folder, or the file itself
std::string checkpoint_path(const std::string& path);

}  // namespace stance
