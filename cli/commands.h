// The subcommands of the command line tool, a file each.
//
// add_X registers X with its arguments; when X runs it sets the exit code. It may throw batchsim::Error: main.cpp prints it.
#pragma once

#include <CLI/CLI.hpp>

enum ExitCode {
  kGood = 0,
  kOutOfTolerance = 1,  // validate: out of the promised tolerance
  kRefused = 2,         // MuJoCo loads the model and batchsim refuses it
  kBadInput = 3,        // MuJoCo rejects it, or bad input or usage
};

void add_info(CLI::App& app, int& exit_code);      // info.cpp
void add_run(CLI::App& app, int& exit_code);       // run.cpp
void add_validate(CLI::App& app, int& exit_code);  // validate.cpp
void add_demo(CLI::App& app, int& exit_code);      // demo.cpp
