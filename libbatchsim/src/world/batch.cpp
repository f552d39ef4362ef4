#include "batchsim/batch.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <thread>

#include "backend/backends.h"
#include "model/flat.h"
#include "world/counted.h"
#include "world/engine.h"
#include "world/impl.h"
#include "world/row_ops.h"

namespace batchsim {
namespace {

constexpr int kMaxWorlds = 1 << 24;
constexpr int kMaxSlots = 1 << 16;

[[noreturn]] void bad_argument(const std::string& name, double value, const std::string& allowed) {
  std::ostringstream s;
  s.precision(15);
  s << name << " is " << value << "; " << allowed;
  throw Error(Error::kInput, s.str());
}

void check_range(const std::string& name, double value, double lo, double hi) {
  std::ostringstream s;
  s.precision(15);
  s << "allowed are " << lo << " ... " << hi;
  if (!(value >= lo && value <= hi)) bad_argument(name, value, s.str());
}

BatchOptions fill_in(const Model& model, BatchOptions o) {
  check_range("BatchOptions.nworld", o.nworld, 1, kMaxWorlds);
  check_range("BatchOptions.nconmax", o.nconmax, 0, kMaxSlots);
  check_range("BatchOptions.njmax", o.njmax, 0, kMaxSlots);
  check_range("BatchOptions.nthread", o.nthread, 0, 1024);
  if (o.precision != Precision::f32 && o.precision != Precision::f64)
    bad_argument("BatchOptions.precision", static_cast<int>(o.precision), "allowed are Precision::f32 and Precision::f64");
  if (!o.nconmax) o.nconmax = model.default_nconmax();
  if (!o.njmax) o.njmax = model.default_njmax();
  if (!o.nthread) o.nthread = std::max(1u, std::thread::hardware_concurrency());
  return o;
}

void check_point(const double* point) {
  for (int i = 0; point && i < 3; i++)
    if (!(std::abs(point[i]) <= 1e10))
      bad_argument("point[" + std::to_string(i) + "]", point[i], "it must be finite and at most 1e10 m");
}

void check_pointer(const void* p, const char* name, const char* shape) {
  if (!p) throw Error(Error::kInput, std::string(name) + " is null; it must point to " + shape + " values in the batch's memory");
}

}  // namespace

Batch::Batch(Model model, const BatchOptions& options) : impl_(std::make_unique<Impl>(Impl{std::move(model), {}, nullptr})) {
  impl_->options = fill_in(impl_->model, options);
  impl_->engine = make_engine(impl_->model, impl_->options);
}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

Batch::Impl& Batch::impl() const {
  if (!impl_) throw Error(Error::kInput, "this Batch was moved from; use the one that it was moved to");
  return *impl_;
}

const Model& Batch::model() const { return impl().model; }
const BatchOptions& Batch::options() const { return impl().options; }
int Batch::nworld() const { return impl().options.nworld; }
std::string Batch::device_name() const { return impl().engine->name(); }
void Batch::synchronize() const { impl().engine->synchronize(); }

void Batch::step(int nstep, const Call& call) { step(nstep, Stage::kNone, call); }

void Batch::step(int nstep, Stage stage, const Call& call) {
  check_range("nstep", nstep, 0, 1e9);
  const bool fresh = stage == Stage::kKinematics;
  if (nstep) impl().engine->run({.op = Op::kStep, .mask = call.mask, .stream = call.stream, .nstep = nstep, .fresh = fresh});
}

void Batch::forward(const Call& call) {
  impl().engine->run({.op = Op::kForward, .mask = call.mask, .stream = call.stream, .nstep = 1});
}

void Batch::reset(int key, const Call& call) {
  if (key < -1 || key >= model().nkey())
    bad_argument("key", key, "the model has " + std::to_string(model().nkey()) + " keyframes, -1 is its initial state");
  impl().engine->run({.op = Op::kReset, .mask = call.mask, .stream = call.stream, .key = key});
}

int Batch::state_size(unsigned spec) const {
  if (spec > kStateIntegration) bad_argument("spec", spec, "allowed are combinations of mjtState bits");
  return state_row_size(Sizes(model().flat(), 0, 0, 1, 1), spec);
}

void Batch::get_state(void* rows, unsigned spec, const Call& call) const {
  state_size(spec);
  check_pointer(rows, "rows", "(nworld, state_size)");
  impl().engine->run({.op = Op::kGetState, .mask = call.mask, .stream = call.stream, .spec = spec, .rows = rows});
}

void Batch::set_state(const void* rows, unsigned spec, const Call& call) {
  state_size(spec);
  check_pointer(rows, "rows", "(nworld, state_size)");
  impl().engine->run(
      {.op = Op::kSetState, .mask = call.mask, .stream = call.stream, .spec = spec, .rows = const_cast<void*>(rows)});
}

static Task body_task(Op op, int body, int nbody, const void* rows, const double* point, const Call& call) {
  check_range("body", body, 1, nbody - 1);
  check_point(point);
  Task task{.op = op, .mask = call.mask, .stream = call.stream, .rows = const_cast<void*>(rows), .body = body};
  for (int i = 0; point && i < 3; i++) task.point[i] = point[i];
  return task;
}

void Batch::push(int body, const void* force, int nstep, const double point[3], const Call& call) {
  check_range("nstep", nstep, 0, 1e9);
  check_pointer(force, "force", "(nworld, 3)");
  Task task = body_task(Op::kPush, body, model().nbody(), force, point, call);
  task.nstep = nstep;
  impl().engine->run(task);
}

void Batch::kick(const void* dqvel, const Call& call) {
  check_pointer(dqvel, "dqvel", "(nworld, nv)");
  impl().engine->run({.op = Op::kKick, .mask = call.mask, .stream = call.stream, .rows = const_cast<void*>(dqvel)});
}

void Batch::kick(int body, const void* impulse, const double point[3], const Call& call) {
  check_pointer(impulse, "impulse", "(nworld, 3)");
  impl().engine->run(body_task(Op::kKickBody, body, model().nbody(), impulse, point, call));
}

void Batch::clear_status(const Call& call) {
  impl().engine->run({.op = Op::kClearStatus, .mask = call.mask, .stream = call.stream});
}

namespace {

std::string field_names() {
  std::string s;
#define X(name, size, doc) s += std::string(s.empty() ? "" : " ") + #name;
  BS_STATE_FIELDS(X)
  BS_DERIVED_FIELDS(X)
  BS_STATE_INTS(X)
#undef X
  return s;
}

}  // namespace

template <class T>
View<T> Batch::bind(const std::string& field) {
  const char* wanted = std::is_same_v<T, float> ? "float" : std::is_same_v<T, double> ? "double" : "int";
  View<T> v;
  v.nworld = nworld();
  void* p = impl().engine->ints(field);
  const char* type = "int";
  v.size = 1;
  v.stride = 1;
  if (!p) {
    p = impl().engine->reals(field, &v.size, &v.stride);
    type = options().precision == Precision::f32 ? "float" : "double";
  }
  if (!p) throw Error(Error::kInput, "no field '" + field + "'; there are " + field_names());
  if (std::string(type) != wanted)
    throw Error(Error::kInput, "field '" + field + "' holds " + type + ", not " + wanted + "; use bind<" + type + ">");
  v.data = static_cast<T*>(p);
  return v;
}
template View<float> Batch::bind(const std::string&);
template View<double> Batch::bind(const std::string&);
template View<int> Batch::bind(const std::string&);

Report Batch::report() const {
  Report r;
  const Engine& e = *impl().engine;
  for (int s : e.read_ints("status")) {
    r.worlds_contacts_dropped += (s & kContactsDropped) != 0;
    r.worlds_rows_dropped += (s & kRowsDropped) != 0;
    r.worlds_bad_state += (s & kBadState) != 0;
    r.worlds_iteration_limit += (s & kIterationLimit) != 0;
    r.worlds_bad_inertia += (s & kBadInertia) != 0;
    r.worlds_bad_control += (s & kBadControl) != 0;
  }
  for (int n : e.read_ints("contacts_dropped")) r.contacts_dropped += n;
  for (int n : e.read_ints("rows_dropped")) r.rows_dropped += n;
  for (int n : e.read_ints("ncon_peak")) r.ncon_peak = std::max(r.ncon_peak, n);
  for (int n : e.read_ints("nefc_peak")) r.nefc_peak = std::max(r.nefc_peak, n);
  return r;
}

std::string Report::message() const {
  std::ostringstream s;
  if (worlds_contacts_dropped)
    s << counted(worlds_contacts_dropped, "world") << " dropped contacts (" << contacts_dropped << " in all): increase nconmax to "
      << ncon_peak << " or more\n";
  if (worlds_rows_dropped)
    s << counted(worlds_rows_dropped, "world") << " dropped constraint rows (" << rows_dropped << " in all): increase njmax to "
      << nefc_peak << " or more" << (worlds_contacts_dropped ? ", and more when all contacts fit" : "") << "\n";
  if (worlds_bad_state)
    s << counted(worlds_bad_state, "world")
      << " had a number that is not finite or beyond 1e10 in qpos, qvel or qacc: use a smaller timestep or weaker "
         "actuators\n";
  if (worlds_iteration_limit)
    s << counted(worlds_iteration_limit, "world") << " stopped the solver at its limit: increase option iterations\n";
  if (worlds_bad_inertia)
    s << counted(worlds_bad_inertia, "world")
      << " had a singular inertia matrix: give the light bodies mass or their joints armature\n";
  if (worlds_bad_control)
    s << counted(worlds_bad_control, "world") << " had a control that is not finite or beyond 1e10: it counted as zero\n";
  return s.str();
}

std::vector<MemoryUse> Batch::memory_estimate(const Model& model, const BatchOptions& options) {
  return estimate_memory(model, fill_in(model, options));
}
std::vector<MemoryUse> Batch::memory_report() const {
  std::vector<MemoryUse> uses = estimate_memory(model(), options());
  const Engine& e = *impl().engine;
  const size_t bound = e.bound_bytes();
  for (MemoryUse& u : uses)
    if (u.purpose == kThreadScratch) u.bytes = e.scratch_bytes();
  if (bound) uses.push_back({"bound derived fields", bound / nworld(), bound});
  return uses;
}

}  // namespace batchsim
