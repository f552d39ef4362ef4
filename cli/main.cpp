// batchsim: the command line tool.
#include <csignal>
#include <cstdio>
#include <exception>

#include "batchsim/error.h"
#include "commands.h"
#include "common/mujoco_log.h"

int main(int argc, char** argv) {
  batchsim::tools::tell_mujoco_warnings_once();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error at the end, after --json is written
  CLI::App app("Steps thousands of worlds of a MuJoCo model at once.", "batchsim");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 good; 1 out of the promised tolerance; 2 MuJoCo loads the model and batchsim refuses it;\n"
      "3 MuJoCo rejects it, or bad input or usage.\n");

  int exit_code = kGood;
  add_info(app, exit_code);
  add_run(app, exit_code);
  add_validate(app, exit_code);
  add_demo(app, exit_code);

  // CLI11 would only say that a subcommand is required
  const auto named = [&](CLI::App* sub) { return argc > 1 && sub->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(named).empty()) {
    std::fprintf(stderr, "there is no command '%s'; allowed are info, run, validate and demo\n", argv[1]);
    return kBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? kGood : kBadInput; } catch (const batchsim::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    // a model beyond a limit is refused, as one that uses what is not implemented
    return e.kind() == batchsim::Error::kUnsupported || e.kind() == batchsim::Error::kCapacity ? kRefused : kBadInput;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return kBadInput;
  }
  // a full disk or a closed pipe: what was to be printed is lost
  if (std::fflush(stdout) || std::ferror(stdout)) {
    std::perror("cannot write to stdout");
    return kBadInput;
  }
  return exit_code;
}
