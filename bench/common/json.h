// Results as JSON, for programs.
#pragma once

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "batchsim/batch.h"

namespace batchsim::tools {

using Json = nlohmann::ordered_json;

// JSON has no infinity
inline Json json_number(double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); }
inline Json json_number(const std::vector<double>& v) {
  Json a = Json::array();
  for (double x : v) a.push_back(json_number(x));
  return a;
}

inline Json to_json(const Report& r) {
  return {{"worlds_contacts_dropped", r.worlds_contacts_dropped},
          {"worlds_rows_dropped", r.worlds_rows_dropped},
          {"worlds_bad_state", r.worlds_bad_state},
          {"worlds_iteration_limit", r.worlds_iteration_limit},
          {"worlds_bad_inertia", r.worlds_bad_inertia},
          {"worlds_bad_control", r.worlds_bad_control},
          {"contacts_dropped", r.contacts_dropped},
          {"rows_dropped", r.rows_dropped},
          {"ncon_peak", r.ncon_peak},
          {"nefc_peak", r.nefc_peak}};
}

// path empty: nothing; "-": stdout
inline void write_json(const std::string& path, const Json& json) {
  if (path.empty()) return;
  if (path == "-") {
    std::puts(json.dump(1).c_str());
    return;
  }
  std::ofstream file(path);
  file << json.dump(1) << "\n";
  if (!file.flush()) throw Error(Error::kInput, "cannot write '" + path + "'; give --json a file in a folder that exists");
}

}  // namespace batchsim::tools
