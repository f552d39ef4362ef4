// Results as JSON, for programs.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
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

// The file of --json, opened before the work starts: one that cannot be written is an error then. Path empty: none; "-": stdout, and all
// else that is printed goes to stderr from here on. What is not UTF-8 is replaced.
class JsonFile {
 public:
  // input: a file that it must not be
  explicit JsonFile(const std::string& path, const std::string& input = "") : path_(path) {
    if (path.empty()) return;
    std::error_code ec;
    if (std::filesystem::equivalent(path, input, ec))
      throw Error(Error::kInput, "--json '" + path + "' is the model's own file; name another");
    if (path == "-") {
      std::fflush(stdout);
      const int out = dup(STDOUT_FILENO);
      file_.reset(out < 0 ? nullptr : fdopen(out, "w"));
      dup2(STDERR_FILENO, STDOUT_FILENO);
    } else {
      file_.reset(std::fopen(path.c_str(), "a"));  // what is there stays until there is a result
    }
    if (!file_) fail();
  }
  void write(const Json& json) {
    if (!file_) return;
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    struct stat s;
    if (path_ == "-" || fstat(fileno(file_.get()), &s) || !S_ISREG(s.st_mode)) return put(text);
    // beside it, then in its place: a disk that fills up leaves the last result whole
    const std::string target = path_, partial = path_ + ".partial";
    file_.reset(std::fopen(partial.c_str(), "w"));
    if (!file_) fail();
    try {
      put(text);
    } catch (const Error&) {
      std::remove(partial.c_str());
      throw;
    }
    if (std::rename(partial.c_str(), target.c_str())) fail();
  }

 private:
  void put(const std::string& text) const {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() || std::fflush(file_.get())) fail();
  }
  [[noreturn]] void fail() const {
    throw Error(Error::kInput, "cannot write the result to '" + path_ + "' (" + std::strerror(errno) +
                                   "); give --json a file in a folder that exists, on a disk with room");
  }
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace batchsim::tools
