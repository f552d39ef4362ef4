// Every field that batchsim promises beside MuJoCo's field of the same name.
//
// The list is world/fields.h, expanded: a field that is added there and has no counterpart in mjData does not compile here.
#pragma once

#include <mujoco/mujoco.h>

#include <string>
#include <vector>

#include "batchsim/model.h"

namespace batchsim::tools {

enum class FieldClass {
  integer,    // equal
  smooth,     // equal up to rounding
  iterative,  // behind the constraint solver
};

struct FieldError {
  std::string name;
  FieldClass kind = FieldClass::smooth;
  long compared = 0;    // values
  double worst = 0;     // relative; integers: how many values of a state differ
  double absolute = 0;  // largest difference
  std::string where;    // state and index of the worst

  double tolerance() const;
  bool good() const { return worst <= tolerance(); }
};

class FieldTable {
 public:
  explicit FieldTable(const Model& model);

  /// ours: from export_mjdata; ref: after mj_forward with the same model; where: of the state, for people.
  void compare(const mjModel* m, const mjData* ours, const mjData* ref, const std::string& where);

  const std::vector<FieldError>& fields() const { return fields_; }
  int states() const { return states_; }
  int states_with_contact() const { return with_contact_; }
  int states_with_limit() const { return with_limit_; }
  bool good() const;
  /// the largest error in tolerances
  double worst_of_tolerance() const;

 private:
  FieldError& field(const std::string& name, FieldClass kind);
  void reals(const std::string& name, int n, const mjtNum* a, const mjtNum* b);
  void ints(const std::string& name, int n, const int* a, const int* b);
  template <class D>
  void world_fields(const mjModel* m, const D* a, const D* b);
  template <class C>
  void contacts(const mjData* a, const mjData* b);
  void rows(const mjModel* m, const mjData* a, const mjData* b);

  Model model_;
  std::vector<FieldError> fields_;
  std::string where_;
  int states_ = 0, with_contact_ = 0, with_limit_ = 0;
};

/// J as (nefc, nv), whatever MuJoCo's layout.
std::vector<mjtNum> dense_jacobian(const mjModel* m, const mjData* d);

}  // namespace batchsim::tools
