// A batch: many worlds of one model, stepped together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batchsim/error.h"
#include "batchsim/model.h"
#include "batchsim/status.h"

typedef struct mjData_ mjData;

namespace batchsim {

enum class Precision { f32, f64 };

struct BatchOptions {
  int nworld = 1;                        ///< worlds, 1 or more
  std::string device = "cpu";            ///< "cpu", "cuda" or "cuda:N"; "check" finds races between the threads of a team, slowly
  Precision precision = Precision::f32;  ///< of all reals; f64 on the CPU is the exact backend, one world at a time
  int nconmax = 0;                       ///< contacts a world has room for; 0: Model::default_nconmax()
  int njmax = 0;                         ///< constraint rows a world has room for; 0: Model::default_njmax()
  int nthread = 0;                       ///< threads on the CPU; 0: one a logical processor
};

/// Which worlds a call concerns, and where it is queued.
struct Call {
  const uint8_t* mask = nullptr;  ///< (nworld) bytes in the batch's memory, not 0: take part; null: all worlds
  void* stream = nullptr;         ///< cudaStream_t of the caller; ignored on the CPU
};

/// Derived fields that a step leaves as those of the state it led to, not of the state before (as the stage of mjBatch's step).
enum class Stage {
  kNone,        ///< none: as mj_step leaves them
  kKinematics,  ///< mj_kinematics, mj_comPos: positions and axes of bodies, joints, geoms, sites; subtree_com, cinert, cdof
};

/// Rows (nworld, size) in the batch's memory, which the device of the batch can read and write.
template <class T>
struct View {
  T* data = nullptr;
  int nworld = 0;
  int size = 0;          ///< values a world
  ptrdiff_t stride = 0;  ///< values from one world to the next

  T* operator[](int world) const { return data + world * stride; }
  T& operator()(int world, int i) const { return data[world * stride + i]; }
};

/// Bytes taken for one purpose.
struct MemoryUse {
  std::string purpose;
  size_t bytes_world = 0;  ///< a world's share; 0 for what does not grow with the worlds
  size_t bytes = 0;        ///< in all
};

/// What the status bits and counters of all worlds say, read once; of each world since its last reset or clear_status.
struct Report {
  int worlds_contacts_dropped = 0;  ///< worlds whose contacts did not fit nconmax
  int worlds_rows_dropped = 0;      ///< worlds whose constraint rows did not fit njmax
  int worlds_bad_state = 0;         ///< worlds that were reset (or froze) after a bad number
  int worlds_iteration_limit = 0;   ///< worlds whose solver stopped at its limit
  int worlds_bad_inertia = 0;       ///< worlds with a clamped pivot
  int worlds_bad_control = 0;       ///< worlds with a bad control
  int64_t contacts_dropped = 0;     ///< in all steps and worlds
  int64_t rows_dropped = 0;
  int ncon_peak = 0;  ///< most contacts that a world asked for in a step
  int nefc_peak = 0;  ///< most constraint rows that a world asked for in a step

  bool overflow() const { return worlds_contacts_dropped || worlds_rows_dropped; }
  std::string message() const;  ///< what happened and what to do, a line each; empty if all is well
};

/// Owns the memory of its worlds. Move-only; one thread at a time may use it. A bad argument throws Error; what goes wrong inside a
/// step raises a status bit of that world, and the step goes on.
class Batch {
 public:
  /// Takes all memory that steps will need. Throws Error kCapacity with the bytes needed and free if there is not enough.
  Batch(Model model, const BatchOptions& options);
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  const Model& model() const;
  const BatchOptions& options() const;  ///< as given, defaults filled in
  int nworld() const;
  std::string device_name() const;  ///< what the worlds run on, for example "cpu, avx2, 8 worlds a tile"

  /// nstep timesteps of every world (mj_step), with the controls and applied forces as they are. CUDA: queued, not waited for.
  void step(int nstep = 1, const Call& call = {});
  /// The same, then the derived fields of `stage` once more, of the new state; far cheaper than forward().
  void step(int nstep, Stage stage, const Call& call = {});
  /// Derived fields and sensors of the present state (mj_forward).
  void forward(const Call& call = {});

  /// Start anew: qpos, qvel, act, ctrl, time of keyframe `key`, or of the model for key -1; warm start, applied forces, status and
  /// counters zero: read report() before it if you want to know. Sensors and derived fields are those of the new state after forward().
  void reset(int key = -1, const Call& call = {});
  /// Values of a state row, in mjSTATE order (mj_stateSize); spec: mjtState bits, by default mjSTATE_INTEGRATION.
  int state_size(unsigned spec = kStateIntegration) const;
  /// rows (nworld, state_size) in the batch's memory and precision; rows of worlds outside the mask are not touched.
  void get_state(void* rows, unsigned spec = kStateIntegration, const Call& call = {}) const;
  void set_state(const void* rows, unsigned spec = kStateIntegration, const Call& call = {});
  static constexpr unsigned kStateIntegration = 0x7fff;  ///< mjSTATE_INTEGRATION

  /// A force on a body for the next nstep steps, counted down on the device; the last call wins, nstep 0 ends a push.
  /// force (nworld, 3): N, world axes, in the batch's memory and precision; point: m from the body's centre of mass, in its frame.
  void push(int body, const void* force, int nstep, const double point[3] = nullptr, const Call& call = {});
  /// qvel += dqvel; dqvel (nworld, nv) in the batch's memory and precision.
  void kick(const void* dqvel, const Call& call = {});
  /// qvel += M^-1 J' p: an impulse on a body. impulse (nworld, 3): N s, world axes; point as in push.
  void kick(int body, const void* impulse, const double point[3] = nullptr, const Call& call = {});

  /// A field by MuJoCo's name (docs/fields.md): T is float or double as the precision, int for counters; else Error. State fields are
  /// the batch's own memory, to read and to write. Derived fields are filled by step (as mj_step leaves them) and forward, from the
  /// first bind on; their first bind takes their memory.
  template <class T>
  View<T> bind(const std::string& field);

  /// The counters of all worlds; waits for the device.
  Report report() const;
  void clear_status(const Call& call = {});
  /// Waits for the device; nothing to wait for on the CPU.
  void synchronize() const;

  std::vector<MemoryUse> memory_report() const;
  /// The same before anything is taken.
  static std::vector<MemoryUse> memory_estimate(const Model& model, const BatchOptions& options);

  /// Fill d with one world: its state, and every promised derived field of that state (as after mj_forward), contacts and efc_* in
  /// MuJoCo's order. d must come from this model.
  void export_mjdata(int world, mjData* d) const;

  struct Impl;
  Impl& impl() const;  ///< for batchsim's own tools

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace batchsim
