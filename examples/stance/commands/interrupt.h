// Ctrl-C and a polite kill end a training after its iteration, with a checkpoint; a second one ends it at once.
#pragma once

#include <csignal>

namespace stance {

class Interrupt {
 public:
  Interrupt() {
    raised() = 0;
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, handle);
  }
  ~Interrupt() {
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  }
  Interrupt(const Interrupt&) = delete;
  static bool asked() { return raised(); }

 private:
  static volatile std::sig_atomic_t& raised() {
    static volatile std::sig_atomic_t value = 0;
    return value;
  }
  static void handle(int signal) {
    raised() = 1;
    std::signal(signal, SIG_DFL);
  }
};

}  // namespace stance
