// A progress bar on stderr, for people: on a terminal, or where --progress asks for it (a line for each tenth then).
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace batchsim::tools {

class Progress {
 public:
  // force: also where stderr is not a terminal
  Progress(std::string what, double total, bool force)
      : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO)), on_(force || terminal_) {}
  Progress(const Progress&) = delete;
  ~Progress() { clear(); }

  // note: what else to show, for example a speed
  void at(double done, const std::string& note = "") {
    if (!on_) return;
    const double share = total_ > 0 ? std::min(1.0, done / total_) : 1;
    const auto now = Clock::now();
    if (terminal_) {
      if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
      constexpr int width = 30;
      const int full = int(share * width);
      std::fprintf(stderr, "\r\033[K%s [%s%s] %3.0f%%%s  %s", what_.c_str(), std::string(full, '#').c_str(),
                   std::string(width - full, '.').c_str(), 100 * share, left(share, now).c_str(), note.c_str());
      std::fflush(stderr);
    } else {
      if (int(share * 10) == tenth_) return;
      tenth_ = int(share * 10);
      std::fprintf(stderr, "%s %3.0f%%%s  %s\n", what_.c_str(), 100 * share, left(share, now).c_str(), note.c_str());
    }
    drawn_ = true;
    last_ = now;
  }
  // the line is gone, so that something else can be printed
  void clear() {
    if (drawn_ && terminal_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string left(double share, Clock::time_point now) const {
    const double spent = std::chrono::duration<double>(now - start_).count();
    if (share <= 0 || spent < 2) return "";
    char s[32];
    std::snprintf(s, sizeof s, "  %.0f s left", spent * (1 / share - 1));
    return s;
  }

  std::string what_;
  double total_;
  bool terminal_, on_, drawn_ = false;
  int tenth_ = -1;
  Clock::time_point start_ = Clock::now(), last_{};
};

}  // namespace batchsim::tools
