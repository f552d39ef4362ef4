// The commands of the program; each adds itself and sets the exit code when it has run.
#pragma once

#include <CLI/CLI.hpp>

namespace stance {

enum ExitCode {
  kSolved = 0,     ///< or, for commands that do not train: all is well
  kNotSolved = 1,  ///< out of time or interrupted; eval: more falls than the task allows
  kBadInput = 3,   ///< of usage, files, models
};

/// check() of a seed; CLI11 would take -1 for the largest one
inline std::string is_seed(const std::string& s) {
  const bool digits = !s.empty() && s.size() < 20 && s.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "'" + s + "' is no seed; allowed are whole numbers from 0 on, of at most 19 digits";
}

void add_train(CLI::App& app, int& exit_code);
void add_eval(CLI::App& app, int& exit_code);
void add_record(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);

}  // namespace stance
