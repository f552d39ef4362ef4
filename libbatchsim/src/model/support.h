// What batchsim supports of MuJoCo: one table. Refusals, `batchsim info` and docs/features.md come from it.
#pragma once

#include <mujoco/mujoco.h>

#include <span>
#include <string>
#include <vector>

#include "model/flat.h"

namespace batchsim {

enum class Support {
  kYes,
  kRefused,   // a model that uses it is refused
  kNoEffect,  // accepted; it changes nothing here
};

// where a model uses a feature
class Uses {
 public:
  Uses(const mjModel* m, const FlatModel& f, const char* mjcf) : m(m), f(f), mjcf_(mjcf) {}
  void add(int objtype, int id, const std::string& more = "");  // joint "knee" (more)
  void pair(int p);                                             // a candidate pair
  void option() { add(mjcf_); }                                 // the feature's MJCF itself
  void add(const std::string& what);
  long count() const { return count_; }
  std::string text() const;  // at most 20 in full, then how many more

  const mjModel* const m;
  const FlatModel& f;  // sizes and candidate pairs only

 private:
  static constexpr long kListed = 20;
  const char* mjcf_;
  long count_ = 0;
  std::vector<std::string> list_;
};

struct Feature {
  const char* area;
  const char* name;
  const char* mjcf;  // where MJCF has it
  Support support;
  const char* note;
  void (*find)(Uses&);  // null: not looked for
};

std::span<const Feature> features();  // support_table.cpp

/// Throws Error with everything in the model that is refused.
void check_support(const mjModel* m, const FlatModel& f, const std::string& source);

struct UsedFeature {
  const Feature* feature;
  long count;
};
std::vector<UsedFeature> used_features(const mjModel* m, const FlatModel& f);

std::string features_markdown();  // the text of docs/features.md

}  // namespace batchsim
