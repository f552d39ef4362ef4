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

// prints the races between the threads of a team; returns their number, 0 on other devices
inline long show_races() {
  const batchsim::RaceReport races = batchsim::take_races();
  if (!races.count) return 0;
  std::printf("\n%ld races between the threads of a team:\n", races.count);
  for (const std::string& line : races.first) std::printf("  %s\n", line.c_str());
  return races.count;
}
