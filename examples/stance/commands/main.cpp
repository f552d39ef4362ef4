// stance: trains a body to stand, bounce and stay up while it is shoved.
#include <batchsim/error.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "commands/commands.h"

int main(int argc, char** argv) {
  using namespace stance;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone must not end a training
  CLI::App app("Trains a body to stand, bounce and stay up while it is shoved, and shows what it learned.", "stance");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 solved, or all is well; 1 not solved; 3 bad input or usage.\n");
  int exit_code = kSolved;
  add_train(app, exit_code);
  add_eval(app, exit_code);
  add_record(app, exit_code);
  add_export(app, exit_code);
  add_sweep(app, exit_code);

  const auto named = [&](CLI::App* sub) { return argc > 1 && sub->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(named).empty()) {
    std::fprintf(stderr, "there is no command '%s'; allowed are train, eval, record, export and sweep\n", argv[1]);
    return kBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? kSolved : kBadInput; } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return kBadInput;
  }
  if (std::fflush(stdout) || std::ferror(stdout)) {
    std::perror("cannot write to stdout");
    return kBadInput;
  }
  return exit_code;
}
