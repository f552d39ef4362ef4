#include "commands/bar.h"

#include <unistd.h>

#include <cstdio>

namespace stance {

std::string duration(double seconds, double price) {
  char s[64];
  if (seconds < 100)
    std::snprintf(s, sizeof s, "%.0f s", seconds);
  else
    std::snprintf(s, sizeof s, "%d min %d s", int(seconds) / 60, int(seconds) % 60);
  std::string text = s;
  if (price > 0) {
    std::snprintf(s, sizeof s, ", cost %.4f", price * seconds / 3600);
    text += s;
  }
  return text;
}

Bar::Bar(std::string what, double price) : what_(std::move(what)), price_(price), terminal_(isatty(STDERR_FILENO)) {}
Bar::~Bar() { end(); }

void Bar::end() {
  if (drawn_ && terminal_) std::fputs("\n", stderr);
  drawn_ = false;
}

void Bar::show(const Shown& s) {
  const Iteration& it = s.iteration;
  // a message that stays, once
  if (!s.overflow.empty() && overflow_.empty()) {
    end();
    std::fprintf(stderr, "%s\n", s.overflow.c_str());
  }
  if (!s.overflow.empty()) overflow_ = s.overflow;
  if (s.examination) {
    end();
    std::fprintf(stderr, "examined without noise after iteration %d: %d of %d episodes fall\n", it.index + 1, s.examination->falls,
                 s.examination->episodes);
  }
  const bool raised = s.curriculum.level() != level_;
  if (!terminal_ && !raised && it.index % 20 && !it.solved) return;
  level_ = s.curriculum.level();

  const int width = 20, full = int(s.curriculum.amplitude() * width + 0.5);
  const Curriculum::Episodes e = it.episodes;
  char falls[64] = "no episode ended yet";
  if (e.ended())
    std::snprintf(falls, sizeof falls, "falls %lld of %lld  length %.2f s", static_cast<long long>(e.falls),
                  static_cast<long long>(e.ended()), e.mean_length());
  std::fprintf(stderr, "%s%s [%s%s] amplitude %.1f  iteration %4d  reward %.3f  %s  %.0f steps/s  %s%s%s",
               terminal_ ? "\r\033[K" : "", what_.c_str(), std::string(full, '#').c_str(), std::string(width - full, '.').c_str(),
               s.curriculum.amplitude(), it.index + 1, it.env.steps ? it.env.reward / double(it.env.steps) : 0.0, falls,
               s.steps_per_second, duration(s.seconds, price_).c_str(), s.overflow.empty() ? "" : "  OVERFLOW",
               terminal_ ? "" : "\n");
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace stance
