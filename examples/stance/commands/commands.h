// The commands of the program; each adds itself and sets the exit code when it has run.
#pragma once

#include <CLI/CLI.hpp>

namespace stance {

enum ExitCode {
  kSolved = 0,     ///< or, for commands that do not train: all is well
  kNotSolved = 1,  ///< out of time or interrupted; eval: more falls than the task allows
  kBadInput = 3,   ///< of usage, files, models
};

void add_train(CLI::App& app, int& exit_code);
void add_eval(CLI::App& app, int& exit_code);
void add_record(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);

}  // namespace stance
