#include "common/mujoco_log.h"

#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace batchsim::tools {
namespace {

void handle(const mjLogMessage* message) {
  if (message->level < mjLOG_WARNING) return;
  std::string text = message->subject;
  if (message->body) text += std::string("\n") + message->body;
  if (message->level == mjLOG_ERROR) {
    std::fprintf(stderr, "MuJoCo: %s\n", text.c_str());
    std::_Exit(3);  // it must not return
  }
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard<std::mutex> lock(mutex);
  // the same warning comes again with another time
  if (told.insert(text.substr(0, text.find("Time = "))).second) std::fprintf(stderr, "MuJoCo: %s (said once)\n", text.c_str());
}

}  // namespace

void tell_mujoco_warnings_once() { mju_setLogHandler(handle); }

}  // namespace batchsim::tools
