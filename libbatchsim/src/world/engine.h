// What a batch asks of its backend. One implementation for the CPU (a template over the kind of tile) and one for CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "world/fields.h"
#include "world/sizes.h"

namespace batchsim {

// rows (nworld, n) of one precision in the engine's memory
template <class T>
struct WorldRows {
#define X(name, size, doc) T* name;
  BS_STATE_FIELDS(X)
#undef X
#define X(name, size, doc) int* name;
  BS_STATE_INTS(X)
#undef X
};

// one world's inner values, widened to double, for export and comparison
struct WorldExport {
#define X(name, size, doc) std::vector<double> name;
  BS_STATE_FIELDS(X)
  BS_DERIVED_FIELDS(X)
  BS_CONTACT_FIELDS(X)
#undef X
  int ncon = 0;
  int solver_niter = 0;
  std::vector<int> con_pair;  // (ncon) candidate pair
  // constraint rows in MuJoCo's order
  int nefc = 0, nf = 0, nl = 0;
  std::vector<int> efc_type, efc_id, efc_state, con_efc_address;
  std::vector<double> efc_J, efc_pos, efc_margin, efc_frictionloss, efc_diagA, efc_KBIP, efc_D, efc_R, efc_vel, efc_aref, efc_force;
};

enum class Op {
  kStep,
  kForward,
  kReset,
  kGetState,
  kSetState,
  kPush,
  kKick,
  kKickBody,
  kClearStatus,
  kFactorM,
  kSolveM,
  kFactorSolveM
};

// the arguments of one call on all worlds; what an operation does not use is left as it is
struct Task {
  Op op = Op::kStep;
  const uint8_t* mask = nullptr;
  void* stream = nullptr;
  int nstep = 0;         // step, push; 1 for forward
  bool fresh = false;    // step: kinematics of the new state
  int key = -1;          // reset
  unsigned spec = 0;     // get_state, set_state
  void* rows = nullptr;  // get_state: written; set_state, push, kick: read
  int body = 0;          // push, kick
  double point[3] = {0, 0, 0};
};

// where a batch factors M
struct FactorPlan {
  bool shared = false;      ///< in a GPU's shared memory; otherwise in the world's own memory
  size_t shared_bytes = 0;  ///< what it takes or would take
  int members = 1;          ///< threads a world
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  virtual void run(const Task& task) = 0;
  virtual void synchronize() const = 0;
  // rows of a field; null: no such field. Derived fields are kept from the first call on.
  virtual void* reals(const std::string& field, int* size, ptrdiff_t* stride) = 0;
  virtual int* ints(const std::string& field) = 0;
  // one of the state's integer fields, all worlds, on the host
  virtual std::vector<int> read_ints(const std::string& field) const = 0;
  // forward() of one world in poisoned memory of its own, and everything that it computed
  virtual WorldExport export_world(int world) = 0;
  virtual size_t scratch_bytes() const = 0;  // of all threads, or of all worlds
  virtual FactorPlan factor_plan() const = 0;
  virtual size_t bound_bytes() const = 0;  // of derived fields that were bound, where they take memory of their own
};

}  // namespace batchsim
