// Checks of arguments, and what a run on the device `check` has found.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "backend/check/watch.h"

// above 0, at most 1e6, and a number: CLI11's own ranges let nan pass
inline std::string check_seconds(const std::string& text) {
  double x = 0;
  if (CLI::detail::lexical_cast(text, x) && x > 0 && x <= 1e6) return "";
  return "seconds is " + text + "; allowed are numbers above 0 up to 1e6";
}

// whole numbers: CLI11 shows the last float as the end of such a range
inline std::string check_whole(const std::string& text, bool zero) {
  const bool whole = !text.empty() && text.size() < 21 && text.find_first_not_of("0123456789") == std::string::npos;
  if (whole && (zero || text.find_first_not_of('0') != std::string::npos)) return "";
  return "it is " + text + "; allowed are whole numbers from " + (zero ? "0" : "1") + " on";
}
inline std::string check_count(const std::string& text) { return check_whole(text, false); }
inline std::string check_seed(const std::string& text) { return check_whole(text, true); }

// prints the races between the threads of a team; returns their number, 0 on other devices
inline long show_races() {
  const batchsim::RaceReport races = batchsim::take_races();
  if (!races.count) return 0;
  std::printf("\n%ld races between the threads of a team:\n", races.count);
  for (const std::string& line : races.first) std::printf("  %s\n", line.c_str());
  return races.count;
}
