// Runs: the same bits with any number of threads, and after any interruption.
#include "train/run.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "catch.h"
#include "error_of.h"
#include "eval/evaluate.h"
#include "io/checkpoint.h"
#include "stance/folder.h"
#include "task.h"

extern char** environ;

namespace {

using namespace stance;
namespace fs = std::filesystem;

RunOptions small_run(const std::string& out) {
  RunOptions o;
  o.out = out;
  o.nworld = 12;
  o.nthread = 1;
  o.iterations = 6;
  o.checkpoint_every = 2;
  return o;
}

// changes one vector of a checkpoint
template <class F>
void change_checkpoint(const std::string& path, const std::string& name, F change) {
  CheckpointWriter to;
  {
    const CheckpointReader from(path);
    for (const char* text : {"body", "device", "precision"}) to.put(text, from.get<std::string>(text));
    for (const char* number : {"seed", "model"}) to.put(number, from.get<uint64_t>(number));
    for (const char* number : {"nworld", "nconmax", "njmax", "separate_tables"}) to.put(number, from.get<int64_t>(number));
    for (const char* number : {"seconds", "iterations"}) to.put(number, from.get<double>(number));
#define X(type, field, value, doc) to.put("ppo." #field, from.get<double>("ppo." #field));
    STANCE_PPO(X)
#undef X
    to.put("ppo.hidden", from.get<std::vector<int64_t>>("ppo.hidden"));
    for (const char* vector : {"env", "curriculum", "learner"}) {
      auto values = from.get<std::vector<double>>(vector);
      if (vector == name) change(values);
      to.put(vector, values);
    }
  }
  to.write(path);
}

// the log without its columns of times
std::string log_of(const std::string& run) {
  std::ifstream file(run + "/log.csv");
  std::string line, text;
  std::vector<bool> keep;
  while (std::getline(file, line)) {
    std::istringstream s(line);
    std::string cell;
    for (size_t i = 0; std::getline(s, cell, ','); i++) {
      if (keep.size() <= i) keep.push_back(cell.rfind("time_", 0) != 0);
      if (keep[i]) text += cell + ",";
    }
    text += "\n";
  }
  return text;
}

pid_t start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), STANCE_PROGRAM);
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  REQUIRE(posix_spawn(&pid, STANCE_PROGRAM, &quiet, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&quiet);
  return pid;
}
int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("one thread or three: the same log") {
  const Folder folder;
  RunOptions one = small_run(folder / "one"), three = small_run(folder / "three");
  three.nthread = 3;
  train(one, {}, {});
  train(three, {}, {});
  CHECK(log_of(one.out).size() > 500);
  CHECK(log_of(one.out) == log_of(three.out));
  RunOptions other = small_run(folder / "other");
  other.seed = 2;
  train(other, {}, {});
  CHECK(log_of(one.out) != log_of(other.out));
}

TEST_CASE("stopped and resumed: as if it had not stopped") {
  for (const bool f64 : {false, true}) {
    const Folder folder;
    RunOptions whole = small_run(folder / "whole"), parts = small_run(folder / "parts");
    whole.f64 = parts.f64 = f64;
    train(whole, {}, {});
    parts.iterations = 3;
    train(parts, {}, {});
    parts.resume = true;
    parts.iterations = 4;
    train(parts, {}, {});
    parts.iterations = 6;
    train(parts, {}, {});
    CHECK(log_of(whole.out) == log_of(parts.out));
    const Trained a = load_trained(whole.out), b = load_trained(parts.out);
    CHECK(a.iterations == 6);
    CHECK(a.policy.actor.layer[0].weight == b.policy.actor.layer[0].weight);
    CHECK(a.policy.normaliser.mean == b.policy.normaliser.mean);
  }
}

TEST_CASE("killed at any time and resumed: as if it had not been") {
  const Folder folder;
  RunOptions whole = small_run(folder / "whole");
  whole.iterations = 40;
  whole.checkpoint_every = 1;  // so that kills meet the writing of checkpoints
  train(whole, {}, {});
  const std::string out = folder / "killed";
  const std::vector<std::string> common = {"train", "--out",     out, "--iterations", "40", "--checkpoint-every",
                                           "1",     "--threads", "1"};
  std::vector<std::string> first = common;
  first.insert(first.end(), {"--worlds", "12"});
  int kills = 0;
  for (int attempt = 0;; attempt++) {
    REQUIRE(attempt < 100);
    std::vector<std::string> again = common;
    again.push_back("--resume");
    const pid_t pid = start(fs::exists(out + "/checkpoint.bss") ? again : first);
    if (attempt < 12) {
      std::this_thread::sleep_for(std::chrono::milliseconds(70 + 37 * attempt % 110));
      kill(pid, SIGKILL);
    }
    const int status = wait_for(pid);
    if (WIFSIGNALED(status))
      kills++;
    else
      break;
  }
  CHECK(kills >= 3);
  CHECK(log_of(whole.out) == log_of(out));
}

TEST_CASE("an interrupt ends a run with a checkpoint") {
  const Folder folder;
  const std::string out = folder / "run";
  const pid_t pid = start({"train", "--out", out, "--worlds", "8", "--threads", "1"});
  while (!fs::exists(out + "/checkpoint.bss")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  kill(pid, SIGINT);
  const int status = wait_for(pid);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  const Trained t = load_trained(out);
  std::ifstream log(out + "/log.csv");
  int rows = -1;
  for (std::string line; std::getline(log, line);) rows++;
  CHECK(t.iterations == rows);
}

TEST_CASE("what a run refuses") {
  const Folder folder;
  const auto refused = [](const RunOptions& o) { return error_of([&] { train(o, {}, {}); }); };
  RunOptions o = small_run(folder / "a");
  o.nworld = -1;
  CHECK(refused(o).has("worlds is -1"));
  o = small_run(folder / "a");
  o.body = "nobody";
  CHECK(refused(o).has("'nobody'"));
  o = small_run(folder / "a");
  o.device = "abacus";
  CHECK(refused(o).has("abacus"));
  o = small_run(folder / "a");
  o.resume = true;
  CHECK(refused(o).has("checkpoint.bss"));
  o = small_run(folder / "a");
  for (const char* wrong : {"gama=0.9", "gamma", "gamma=1.5", "horizon=0", "horizon=2.5", "hidden=", "hidden=64x", "clip=nan"}) {
    o.ppo = {wrong};
    INFO(wrong);
    CHECK(refused(o).has("PPO"));
  }
  o = small_run("/dev/null/a");
  CHECK(refused(o).has("/dev/null/a"));

  o = small_run(folder / "b");
  o.iterations = 1;
  train(o, {}, {});
  CHECK(refused(o).has("holds a run already"));
  // another model under the same name
  o.resume = true;
  fs::copy_file(BATCHSIM_MODELS "/stick.xml", folder / "mine.xml");
  RunOptions mine = small_run(folder / "c");
  mine.body = folder / "mine.xml";
  mine.iterations = 1;
  train(mine, {}, {});
  std::ifstream in(mine.body);
  std::string xml((std::istreambuf_iterator<char>(in)), {});
  xml.replace(xml.find("damping=\""), 9, "damping=\"1");
  std::ofstream(mine.body) << xml;
  mine.resume = true;
  mine.iterations = 2;
  CHECK(refused(mine).has("another model"));
}

TEST_CASE("solved is what the examination passes, too") {
  const Folder folder;
  RunOptions o = small_run(folder / "run");
  o.iterations = 8;
  train(o, {}, {});
  // as if its noisy policy had done well at the last level; a policy this young falls
  change_checkpoint(o.out + "/checkpoint.bss", "curriculum", [](std::vector<double>& curriculum) {
    curriculum[0] = task::levels - 1;
    curriculum[3] = 1;
  });
  o.resume = true;
  o.examine = 4;
  CHECK(!train(o, {}, {}).solved);
  o.examine = 0;
  CHECK(train(o, {}, {}).solved);
  o.examine = -1;
  CHECK(error_of([&] { train(o, {}, {}); }).has("examine is -1"));
}

TEST_CASE("numbers that are not finite end a run with what is still good") {
  const Folder folder;
  RunOptions o = small_run(folder / "run");
  o.iterations = 2;
  train(o, {}, {});
  const std::string path = o.out + "/checkpoint.bss";
  change_checkpoint(path, "learner", [](std::vector<double>& learner) { learner[3] = std::nan(""); });  // a weight of the actor
  o.resume = true;
  o.iterations = 6;
  const Thrown thrown = error_of([&] { train(o, {}, {}); });
  CHECK(thrown.has("iteration 2"));
  CHECK(thrown.has("not finite"));
  CHECK(log_of(o.out).find("nan") == std::string::npos);
}

TEST_CASE("a checkpoint that is damaged, foreign or of another body is refused") {
  const Folder folder;
  RunOptions o = small_run(folder / "run");
  o.iterations = 1;
  train(o, {}, {});
  const std::string path = o.out + "/checkpoint.bss";
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign((std::istreambuf_iterator<char>(in)), {});
  }
  const auto with = [&](const std::string& changed) {
    std::ofstream(path, std::ios::binary) << changed;
    RunOptions again = o;
    again.resume = true;
    return error_of([&] { train(again, {}, {}); });
  };
  std::string flipped = bytes;
  flipped[bytes.size() / 2] ^= 4;
  CHECK(with(flipped).has("damaged"));
  CHECK(with(bytes.substr(0, bytes.size() / 3)).has("damaged"));
  CHECK(with("").has(path));
  CHECK(with("a letter to the editor, long enough to be a checkpoint").has("not a checkpoint"));
  CHECK(with(bytes).message.empty());

  const Trained trained = load_trained(path);
  CHECK(error_of([&] { evaluate(load_body("simple"), trained.policy, {.nworld = 2}); }).has("not for 'simple'"));
}
