// Use of the support table (see support.h).
#include "model/support.h"

#include <cstring>

#include "batchsim/error.h"
#include "model/compile.h"

namespace batchsim {
namespace {

const char* geom_type_name(int type) {
  constexpr const char* names[] = {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"};
  return type >= 0 && type < mjNGEOMTYPES ? names[type] : "unknown type";
}

}  // namespace

void Uses::add(const std::string& what) {
  if (++count_ <= kListed) list_.push_back(what);
}

void Uses::add(int objtype, int id, const std::string& more) {
  if (++count_ <= kListed) list_.push_back(element(m, objtype, id) + (more.empty() ? "" : " (" + more + ")"));
}

void Uses::pair(int p) {
  if (++count_ > kListed) return;
  const int g1 = f.pair_geom1[p], g2 = f.pair_geom2[p];
  list_.push_back(element(m, mjOBJ_GEOM, g1) + " with " + element(m, mjOBJ_GEOM, g2) + " (" + geom_type_name(m->geom_type[g1]) +
                  ", " + geom_type_name(m->geom_type[g2]) + ")");
}

std::string Uses::text() const {
  std::string r;
  for (const std::string& s : list_) r += (r.empty() ? "" : ", ") + s;
  if (count_ > kListed) r += " and " + std::to_string(count_ - kListed) + " more";
  return r;
}

void check_support(const mjModel* m, const FlatModel& f, const std::string& source) {
  if (!(m->opt.timestep > 0)) throw Error(Error::kInput, "option timestep must be positive\nFile: " + source);
  std::string message;
  for (const Feature& feature : features()) {
    if (feature.support != Support::kRefused) continue;
    Uses uses(m, f, feature.mjcf);
    feature.find(uses);
    if (uses.count()) message += std::string("  ") + feature.name + ": " + uses.text() + "\n";
  }
  if (!message.empty())
    throw Error(Error::kUnsupported, "batchsim does not implement what this model uses:\n" + message + "File: " + source);
}

std::vector<UsedFeature> used_features(const mjModel* m, const FlatModel& f) {
  std::vector<UsedFeature> r;
  for (const Feature& feature : features()) {
    if (!feature.find) continue;
    Uses uses(m, f, feature.mjcf);
    feature.find(uses);
    if (uses.count()) r.push_back({&feature, uses.count()});
  }
  return r;
}

std::string features_markdown() {
  std::string r =
      "# What batchsim supports\n\n"
      "Written by `batchsim info --features`, from the table that refuses models. A model that uses what is refused does not\n"
      "compile; the message names every feature and every element. \"no effect\": accepted, since it changes nothing that\n"
      "batchsim computes.\n";
  const char* area = "";
  for (const Feature& x : features()) {
    if (std::strcmp(area, x.area) != 0) {
      area = x.area;
      r += std::string("\n## ") + area + "\n\n| feature | in MJCF | | remarks |\n| --- | --- | --- | --- |\n";
    }
    const char* status = x.support == Support::kYes ? "yes" : x.support == Support::kRefused ? "refused" : "no effect";
    r += std::string("| ") + x.name + " | " + (*x.mjcf ? std::string("`") + x.mjcf + "`" : "") + " | " + status + " | " + x.note +
         " |\n";
  }
  return r;
}

}  // namespace batchsim
