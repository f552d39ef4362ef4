// batchsim: the command line tool.
#include <cstdio>
#include <exception>

#include "batchsim/error.h"
#include "commands.h"

int main(int argc, char** argv) {
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
