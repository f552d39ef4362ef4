#include "common/field_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "../tests/tolerances.h"
#include "model/flat.h"
#include "world/fields.h"
#include "world/sizes.h"

namespace batchsim::tools {
namespace {

// fields of a batch that mjData has nothing like: the compensated sum of time, and pushes, which act as xfrc_applied does
constexpr bool without_counterpart(std::string_view name) {
  return name == "time_carry" || name == "push_force" || name == "push_point";
}

// what depends on the constraint solver; all else is smooth
bool is_iterative(std::string_view name) {
  constexpr std::array names = {"qacc", "qfrc_constraint", "efc_force", "sensordata"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// below this (SI units) a value is what is left of numbers that cancel
double zero_of(std::string_view name) {
  const bool force = name.starts_with("qfrc") || name.starts_with("qacc") || name == "efc_aref" || name == "efc_force" ||
                     name == "actuator_force" || name == "sensordata";
  return force ? tolerances::kZeroForce : tolerances::kZero;
}

const mjtNum* address(mjtNum* p) { return p; }
const mjtNum* address(const mjtNum& x) { return &x; }

// a contact field of world/fields.h in MuJoCo's structure
const mjtNum* con_dist(const mjContact& c) { return &c.dist; }
const mjtNum* con_pos(const mjContact& c) { return c.pos; }
const mjtNum* con_frame(const mjContact& c) { return c.frame; }
// MuJoCo keeps it as efc_force only, which is compared
std::nullptr_t con_force(const mjContact&) { return nullptr; }

// the state of each row of b by its force; a row at the border of two may be as in a
std::vector<int> states_from_forces(const mjData* a, const mjData* b) {
  std::vector<int> state(b->nefc);
  for (int r = 0; r < b->nefc; r++) {
    const double f = b->efc_force[r], limit = b->efc_frictionloss[r],
                 border = b->efc_type[r] == mjCNSTR_FRICTION_DOF ? std::abs(f) - limit : f;
    if (std::abs(border) < tolerances::kIterative)
      state[r] = a->efc_state[r];
    else if (b->efc_type[r] == mjCNSTR_FRICTION_DOF)
      state[r] = border < 0 ? mjCNSTRSTATE_QUADRATIC : f > 0 ? mjCNSTRSTATE_LINEARNEG : mjCNSTRSTATE_LINEARPOS;
    else
      state[r] = border > 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_SATISFIED;
  }
  return state;
}

template <class T, class Get>
std::vector<T> gather(const mjData* d, int n, Get get) {
  std::vector<T> v;
  for (int c = 0; c < d->ncon; c++) {
    const T* p = get(d->contact[c]);
    v.insert(v.end(), p, p + n);
  }
  return v;
}

}  // namespace

double FieldError::tolerance() const {
  return kind == FieldClass::integer ? 0 : kind == FieldClass::smooth ? tolerances::kSmooth : tolerances::kIterative;
}

FieldTable::FieldTable(const Model& model) : model_(model) {}

bool FieldTable::good() const {
  return states_ > 0 && std::all_of(fields_.begin(), fields_.end(), [](const FieldError& f) { return f.good(); });
}

double FieldTable::worst_of_tolerance() const {
  double worst = 0;
  for (const FieldError& f : fields_)
    worst = std::max(worst, f.kind == FieldClass::integer ? (f.worst > 0 ? INFINITY : 0) : f.worst / f.tolerance());
  return worst;
}

FieldError& FieldTable::field(const std::string& name, FieldClass kind) {
  for (FieldError& f : fields_)
    if (f.name == name) return f;
  fields_.emplace_back();
  fields_.back().name = name;
  fields_.back().kind = kind;
  return fields_.back();
}

void FieldTable::reals(const std::string& name, int n, const mjtNum* a, const mjtNum* b) {
  FieldError& f = field(name, is_iterative(name) ? FieldClass::iterative : FieldClass::smooth);
  const double zero = zero_of(name);
  double scale = 0;
  for (int i = 0; i < n; i++) scale = std::max(scale, std::abs(b[i]));
  for (int i = 0; i < n; i++) {
    const double diff = std::abs(a[i] - b[i]);
    const double e = diff / std::max({std::abs(b[i]), tolerances::kRelativeFloor * scale, zero});
    f.compared++;
    if (diff <= f.absolute && e <= f.worst) continue;
    f.absolute = std::isnan(diff) ? INFINITY : std::max(f.absolute, diff);
    if (e <= f.worst) continue;
    f.worst = std::isnan(e) ? INFINITY : e;
    f.where = where_ + ", value " + std::to_string(i) + " of " + std::to_string(n);
  }
}

void FieldTable::ints(const std::string& name, int n, const int* a, const int* b) {
  FieldError& f = field(name, FieldClass::integer);
  int differ = 0, first = -1;
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) {
      if (!differ++) first = i;
      f.absolute = std::max(f.absolute, std::abs(double(a[i]) - b[i]));
    }
  f.compared += n;
  if (differ <= f.worst) return;
  f.worst = differ;
  f.where = where_ + ", value " + std::to_string(first) + " of " + std::to_string(n) + " is " + std::to_string(a[first]) +
            ", not " + std::to_string(b[first]);
}

template <class D>
void FieldTable::world_fields(const mjModel* m, const D* a, const D* b) {
  const Sizes z(model_.flat(), 1, 1, 1, 1);
  // MuJoCo's rows of M leave out what is zero by structure
  const auto count = [&](std::string_view name, int n) { return name == "M" || name == "qLD" ? int(m->nC) : n; };
#define X(name, size, doc)                                                                                      \
  static_assert(                                                                                                \
      requires { std::declval<D&>().name; } || without_counterpart(#name), "mjData has no field of this name"); \
  if constexpr (requires { std::declval<D&>().name; }) reals(#name, count(#name, size), address(a->name), address(b->name));
  BS_STATE_FIELDS(X)
  BS_DERIVED_FIELDS(X)
#undef X
}

template <class C>
void FieldTable::contacts(const mjData* a, const mjData* b) {
  const Sizes z(model_.flat(), b->ncon, 1, 1, 1);
  const int ncon = b->ncon;
#define X(name, size, doc)                                                                     \
  if constexpr (!std::is_null_pointer_v<decltype(name(std::declval<C>()))>) {                  \
    const int n = ncon ? (size) / ncon : 0;                                                    \
    const auto get = [](const C& c) { return name(c); };                                       \
    reals(#name, n* ncon, gather<mjtNum>(a, n, get).data(), gather<mjtNum>(b, n, get).data()); \
  }
  BS_CONTACT_FIELDS(X)
#undef X
  // what a contact takes from its pair; mu and H belong to elliptic cones
#define X(member, n)                                                                                        \
  {                                                                                                         \
    const auto get = [](const mjContact& c) { return address(const_cast<mjContact&>(c).member); };          \
    reals("contact." #member, n* ncon, gather<mjtNum>(a, n, get).data(), gather<mjtNum>(b, n, get).data()); \
  }
  // clang-format off
  X(includemargin, 1) X(friction, 5) X(solref, mjNREF) X(solreffriction, mjNREF) X(solimp, mjNIMP)
  // clang-format on
#undef X
#define X(member, n)                                                                                 \
  {                                                                                                  \
    const auto get = [](const mjContact& c) { return (const int*)(&c.member); };                     \
    ints("contact." #member, n* ncon, gather<int>(a, n, get).data(), gather<int>(b, n, get).data()); \
  }
      // clang-format off
  X(dim, 1) X(geom, 2) X(exclude, 1) X(efc_address, 1);
  // clang-format on
#undef X
}

void FieldTable::rows(const mjModel* m, const mjData* a, const mjData* b) {
  const int n = b->nefc;
  ints("efc_type", n, a->efc_type, b->efc_type);
  ints("efc_id", n, a->efc_id, b->efc_id);
  // MuJoCo leaves efc_state as it was before its last iteration; the forces tell what its rows do in the end
  const std::vector<int> state = states_from_forces(a, b);
  ints("efc_state", n, a->efc_state, state.data());
  reals("efc_J", n * m->nv, dense_jacobian(m, a).data(), dense_jacobian(m, b).data());
#define X(name, size) reals(#name, n*(size), a->name, b->name);
  // clang-format off
  X(efc_pos, 1) X(efc_margin, 1) X(efc_frictionloss, 1) X(efc_diagA, 1) X(efc_KBIP, 4) X(efc_D, 1) X(efc_R, 1) X(efc_vel, 1)
  X(efc_aref, 1) X(efc_force, 1)
  // clang-format on
#undef X
}

void FieldTable::compare(const mjModel* m, const mjData* a, const mjData* b, const std::string& where) {
  where_ = where;
  states_++;
  with_contact_ += b->ncon > 0;
  with_limit_ += b->nl > 0;
  world_fields(m, a, b);
#define X(name) ints(#name, 1, &a->name, &b->name);
  // clang-format off
  X(ncon) X(ne) X(nf) X(nl) X(nefc);
  // clang-format on
#undef X
  if (a->ncon == b->ncon) contacts<mjContact>(a, b);
  if (a->nefc == b->nefc) rows(m, a, b);
}

std::vector<mjtNum> dense_jacobian(const mjModel* m, const mjData* d) {
  if (!mj_isSparse(m)) return {d->efc_J, d->efc_J + size_t(d->nefc) * m->nv};
  std::vector<mjtNum> J(size_t(d->nefc) * m->nv);
  for (int r = 0; r < d->nefc; r++)
    for (int i = d->efc_J_rowadr[r]; i < d->efc_J_rowadr[r] + d->efc_J_rownnz[r]; i++)
      J[size_t(r) * m->nv + d->efc_J_colind[i]] = d->efc_J[i];
  return J;
}

}  // namespace batchsim::tools
