// Loading of models by MuJoCo (see load.h).
#include "model/load.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "batchsim/error.h"

namespace batchsim {
namespace {

// what MuJoCo says while a Guard of this thread lives
thread_local std::vector<std::string>* log_warnings = nullptr;
thread_local char log_error[2048];
thread_local std::jmp_buf* escape = nullptr;
mjfLogHandler outer_handler = nullptr;

void handle_log(const mjLogMessage* message) {
  if (!log_warnings) {  // another thread's message
    if (outer_handler) outer_handler(message);
    return;
  }
  if (message->level == mjLOG_ERROR && escape) {
    std::snprintf(log_error, sizeof log_error, "%s%s%s", message->subject, message->body ? "\n" : "",
                  message->body ? message->body : "");
    std::longjmp(*escape, 1);
  }
  if (message->level == mjLOG_WARNING)
    log_warnings->push_back(std::string(message->subject) + (message->body ? std::string("\n") + message->body : ""));
}

// MuJoCo's log handler is global: calls that may log are made one at a time, and the handler is put back
class Guard {
 public:
  explicit Guard(std::vector<std::string>& warnings) : lock_(mutex()) {
    log_warnings = &warnings;
    outer_handler = mju_setLogHandler(handle_log);
  }
  ~Guard() {
    mju_setLogHandler(outer_handler);
    outer_handler = nullptr;
    log_warnings = nullptr;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  std::lock_guard<std::mutex> lock_;
};

// runs a call of MuJoCo; false, with the message in log_error, if it ended in mju_error, which must not return and would end the
// process. A jump, not an exception: libmujoco has a C++ runtime of its own. Compile errors come back by themselves; this is for
// memory that runs out and the like. No object of ours may live in `call`.
template <class Call>
[[gnu::noinline]] bool survives(Call call) {
  std::jmp_buf here;
  escape = &here;
  const bool jumped = setjmp(here) != 0;
  if (!jumped) call();
  escape = nullptr;
  return !jumped;
}

std::string version_text(int version) {  // 4000000 or, before 3.5, 350
  const int a = version >= 100000 ? version / 1000000 : version / 100;
  const int b = version >= 100000 ? version / 1000 % 1000 : version / 10 % 10;
  const int c = version >= 100000 ? version % 1000 : version % 10;
  return std::to_string(a) + "." + std::to_string(b) + "." + std::to_string(c);
}

// the layout of mjModel changes with the version
void check_version() {
  if (mj_version() != mjVERSION_HEADER)
    throw Error(Error::kInput, "batchsim was compiled for MuJoCo " + version_text(mjVERSION_HEADER) +
                                   ", but the libmujoco it runs with is " + mj_versionString());
}

std::string hint(const std::string& message) {
  if (message.find("Lengthrange computation") != std::string::npos)
    return "Hint: give the actuator's lengthrange by hand, or set limits on the joints that its tendon crosses.\n";
  return "";
}

[[noreturn]] void rejected(std::string message, const std::string& source) {
  if (message.empty()) message = "MuJoCo could not load the model and gave no reason";
  if (message.back() != '\n') message += '\n';
  throw Error(Error::kInput, message + hint(message) + "File: " + source);
}

std::vector<char> read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw Error(Error::kInput, "Cannot open file\nFile: " + path);
  std::vector<char> bytes(static_cast<size_t>(in.tellg()));
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) && !bytes.empty())
    throw Error(Error::kInput, "Cannot read file\nFile: " + path);
  return bytes;
}

// an MJB begins with five integers: a magic number, the size of mjtNum, the number of sizes, the version, the number of arrays
std::string mjb_reason(const std::vector<char>& bytes) {
  const int magic = 54321;
  int header[5];
  const std::string ours = version_text(mj_version());
  if (bytes.size() < sizeof header) return "not an MJB of MuJoCo " + ours + ": it is shorter than the header";
  std::memcpy(header, bytes.data(), sizeof header);
  if (header[0] != magic) return "not an MJB of MuJoCo " + ours + ": it has no MJB header";
  if (header[3] != mj_version()) return "an MJB of MuJoCo " + version_text(header[3]) + ", not of MuJoCo " + ours;
  if (header[1] != static_cast<int>(sizeof(mjtNum)))
    return "an MJB of another floating-point precision than MuJoCo " + ours + " here";
  return "a damaged MJB of MuJoCo " + ours;
}

void load_mjb(const std::string& path, LoadedModel& r) {
  const std::vector<char> bytes = read_bytes(path);
  mjModel* m = nullptr;
  const bool good = survives([&] { m = mj_loadModelBuffer(bytes.data(), static_cast<mjtSize>(bytes.size())); });
  r.m.reset(good ? m : nullptr);
  if (r.m) return;
  const std::string error = !good ? log_error : r.warnings.empty() ? "" : r.warnings.back();
  rejected("The file is " + mjb_reason(bytes) + (error.empty() ? "" : " (MuJoCo: " + error + ")"), path);
}

// parse(error, error_sz) -> mjSpec*
template <class Parse>
void load_spec(LoadedModel& r, Parse parse) {
  char message[4096] = "";
  mjSpec* s = nullptr;
  mjModel* m = nullptr;
  if (!survives([&] { s = parse(message, static_cast<int>(sizeof message)); })) rejected(log_error, r.source);
  if (!s) rejected(message, r.source);

  struct Delete {
    void operator()(mjSpec* spec) const { mj_deleteSpec(spec); }
  };
  const std::unique_ptr<mjSpec, Delete> spec(s);
  if (!survives([&] { m = mj_compile(s, nullptr); })) rejected(log_error, r.source);
  r.m.reset(m);
  if (!r.m) rejected(mjs_getError(s), r.source);
  for (int i = 0; i < mjs_numWarnings(s); i++) r.warnings.push_back(mjs_getWarning(s, i));
}

}  // namespace

LoadedModel load_file(const std::string& path) {
  check_version();
  LoadedModel r;
  // MuJoCo 4.0.0 resolves includes wrongly from a relative path with a folder in it
  std::error_code ec;
  const std::filesystem::path full = std::filesystem::absolute(path, ec).lexically_normal();
  r.source = ec ? path : full.string();
  if (path.empty() || !std::filesystem::exists(r.source, ec)) throw Error(Error::kInput, "No such file\nFile: " + r.source);
  if (std::filesystem::is_directory(r.source, ec)) throw Error(Error::kInput, "A folder, not a model\nFile: " + r.source);

  Guard guard(r.warnings);
  if (full.extension() == ".mjb") {
    load_mjb(r.source, r);
    return r;
  }
  load_spec(r, [&](char* error, int size) { return mj_parseXML(r.source.c_str(), nullptr, error, size); });
  return r;
}

LoadedModel load_xml(const std::string& xml) {
  check_version();
  LoadedModel r;
  r.source = "XML string";
  Guard guard(r.warnings);
  load_spec(r, [&](char* error, int size) { return mj_parseXMLString(xml.c_str(), nullptr, error, size); });
  return r;
}

LoadedModel load_copy(const mjModel* m) {
  check_version();
  if (!m) throw Error(Error::kInput, "from_mjmodel: the mjModel is null");
  LoadedModel r;
  r.source = "mjModel";
  Guard guard(r.warnings);
  // through MuJoCo's own format: its loader looks at every index, which mj_copyModel does not, and callers edit their models
  mjModel* copy = nullptr;
  std::vector<char> bytes(mj_sizeModel(m));
  const bool good = survives([&] {
    mj_saveModel(m, nullptr, bytes.data(), static_cast<int>(bytes.size()));
    copy = mj_loadModelBuffer(bytes.data(), static_cast<mjtSize>(bytes.size()));
  });
  r.m.reset(good ? copy : nullptr);
  if (!r.m)
    rejected("from_mjmodel: the model is damaged: " + (!good                ? log_error
                                                       : r.warnings.empty() ? "no reason given"
                                                                            : r.warnings.back()),
             r.source);
  r.m->signature = m->signature;  // not in the format; mjData of the caller's model is good for this one
  return r;
}

}  // namespace batchsim
