// Files that training writes: what is in them byte by byte, and what happens to those that are damaged, foreign or cannot be
// written.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "catch.h"
#include "error_of.h"
#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/checkpoint.h"
#include "io/crc.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/onnx.h"
#include "io/protobuf.h"
#include "io/tensorboard.h"
#include "stance/folder.h"

using namespace stance;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

void put(const std::string& path, const std::string& data) { std::ofstream(path, std::ios::binary) << data; }

// root may write anywhere, so the tests of what may not be written run as somebody else; false: this cannot be done here
class NotRoot {
 public:
  NotRoot() : was_root_(geteuid() == 0), works_(!was_root_ || seteuid(65534) == 0) {}
  ~NotRoot() {
    if (was_root_ && works_ && seteuid(0)) std::abort();
  }
  explicit operator bool() const { return works_; }

 private:
  bool was_root_, works_;
};

double from_bits(uint64_t bits) { return std::bit_cast<double>(bits); }

CheckpointWriter small_checkpoint() {
  CheckpointWriter w;
  w.put("reals", std::vector<double>{1.5, -0.0});
  w.put("floats", std::vector<float>{0.1f});
  w.put("counts", std::vector<int64_t>{-1, 7});
  w.put("bytes", std::vector<uint8_t>{255});
  w.put("text", "two words");
  w.put("iteration", 12);
  w.put("empty", std::vector<double>{});
  return w;
}

// reads all that small_checkpoint has
void read_all(const CheckpointReader& r) {
  r.get<std::vector<double>>("reals");
  r.get<std::vector<float>>("floats");
  r.get<std::vector<int64_t>>("counts");
  r.get<std::vector<uint8_t>>("bytes");
  r.get<std::string>("text");
  r.get<int64_t>("iteration");
  r.get<std::vector<double>>("empty");
}

std::string signed_again(std::string data) {
  data.resize(data.size() - sizeof(uint64_t));
  append_raw(data, crc64(data));
  return data;
}

Policy random_policy(int nobs, int nact, const std::vector<int>& hidden) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  const auto draw = [&](size_t n, double scale) {
    std::vector<double> v(n);
    for (double& x : v) x = scale * normal(random);
    return v;
  };
  Policy p;
  p.body = "stick";
  p.nobs = nobs, p.nact = nact;
  p.normaliser.mean = draw(nobs, 1);
  for (const double x : draw(nobs, 1)) p.normaliser.var.push_back(0.1 + x * x);
  int in = nobs;
  std::vector<int> widths = hidden;
  widths.push_back(nact);
  for (const int out : widths) {
    p.actor.layer.push_back({in, out, draw(size_t(in) * out, 0.5 / std::sqrt(in)), draw(out, 0.1)});
    in = out;
  }
  return p;
}

}  // namespace

TEST_CASE("protobuf: bytes on the wire") {
  CHECK(Protobuf().integer(1, 150).bytes() == "\x08\x96\x01"s);  // the example of protobuf's documentation
  CHECK(Protobuf().integer(1, 0).bytes() == "\x08\x00"s);
  CHECK(Protobuf().integer(1, 127).bytes() == "\x08\x7f"s);
  CHECK(Protobuf().integer(1, 128).bytes() == "\x08\x80\x01"s);
  CHECK(Protobuf().integer(1, -1).bytes() == "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
  CHECK(Protobuf().integer(16, 1).bytes() == "\x80\x01\x01"s);
  CHECK(Protobuf().real(2, 1.0).bytes() == "\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"s);
  CHECK(Protobuf().real(2, 1.0f).bytes() == "\x15\x00\x00\x80\x3f"s);
  CHECK(Protobuf().text(2, "testing").bytes() == "\x12\x07testing"s);
  CHECK(Protobuf().message(3, Protobuf().integer(1, 150)).bytes() == "\x1a\x03\x08\x96\x01"s);
  CHECK(Protobuf().text(1, std::string(300, 'x')).bytes() == "\x0a\xac\x02"s + std::string(300, 'x'));
}

TEST_CASE("crc: known values") {
  CHECK(crc32c("123456789") == 0xe3069283u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aau);  // RFC 3720, B.4
  CHECK(crc32c("") == 0);
  CHECK(crc64("123456789") == 0x995dc9bbdf1939faull);
}

TEST_CASE("write_atomically replaces the whole file and leaves nothing beside it") {
  const Folder f;
  write_atomically(f / "a", "first, longer");
  write_atomically(f / "a", "second");
  CHECK(read_file(f / "a") == "second");
  put(f / "a.tmp", "what a run that was killed left, longer than all");
  write_atomically(f / "a", "third");
  CHECK(read_file(f / "a") == "third");
  CHECK(f.files() == std::vector<std::string>{"a"});

  SECTION("a link stays one") {
    fs::create_symlink("a", f / "latest");
    write_atomically(f / "latest", "fourth");
    CHECK(fs::is_symlink(f / "latest"));
    CHECK(read_file(f / "a") == "fourth");
    fs::create_symlink("missing", f / "dangling");
    write_atomically(f / "dangling", "fifth");
    CHECK(read_file(f / "missing") == "fifth");
  }
  SECTION("a name without a folder") {
    const fs::path old = fs::current_path();
    fs::current_path(f.path());
    write_atomically("b", "here");
    fs::current_path(old);
    CHECK(read_file(f / "b") == "here");
  }
}

TEST_CASE("write_atomically: what cannot be written leaves the old file") {
  const Folder f;
  write_atomically(f / "a", "old");

  SECTION("full disk") {
    fs::create_symlink("/dev/full", f / "a.tmp");
    const Thrown e = error_of([&] { write_atomically(f / "a", "new"); });
    CHECK(e.kind == batchsim::Error::kInput);
    CHECK(e.has(f / "a"));
    CHECK(e.has("No space left on device"));
    CHECK(e.has("make room"));
  }
  SECTION("folder that may not be written to") {
    fs::permissions(f.path(), fs::perms(0555));
    if (const NotRoot other; other) {
      const Thrown e = error_of([&] { write_atomically(f / "a", "new"); });
      CHECK(e.has("Permission denied"));
      CHECK(e.has("choose a folder that you may write to"));
    }
    fs::permissions(f.path(), fs::perms(0755));
  }
  SECTION("folder that is none") {
    CHECK(error_of([&] { write_atomically(f / "missing/a", "new"); }).has("its folder has to exist"));
    CHECK(error_of([&] { write_atomically(f / "a/b", "new"); }).has("its folder has to exist"));
  }
  SECTION("not a plain file") {
    fs::create_directory(f / "folder");
    CHECK(error_of([&] { write_atomically(f / "folder", "new"); }).has("is not a plain file"));
    CHECK(error_of([&] { write_atomically("/dev/full", "new"); }).has("is not a plain file"));
    fs::remove(f / "folder");
  }
  SECTION("a link in a circle") {
    fs::create_symlink("b", f / "b");
    CHECK(error_of([&] { write_atomically(f / "b", "new"); }).has("Too many levels of symbolic links"));
    fs::remove(f / "b");
  }
  CHECK(read_file(f / "a") == "old");
  CHECK(f.files() == std::vector<std::string>{"a"});
}

TEST_CASE("checkpoint: everything comes back bit for bit") {
  const Folder f;
  const std::vector<double> reals = {0.1,
                                     -0.0,
                                     5e-324,
                                     std::numeric_limits<double>::max(),
                                     -INFINITY,
                                     from_bits(0x7ff8'0000'dead'beefu),   // a NaN with a payload
                                     from_bits(0xfff0'0000'0000'0001u)};  // a signalling one
  const std::vector<float> floats = {0.1f, -0.0f, 1e-45f, std::bit_cast<float>(0x7fa0'1234u)};
  const std::vector<int64_t> ints = {INT64_MIN, -1, 0, INT64_MAX};
  const std::vector<uint8_t> bytes = {0, 255, 10};
  const std::string text = "a\0b\n"s;
  CheckpointWriter w;
  w.put("reals", reals);
  w.put("floats", floats);
  w.put("ints", ints);
  w.put("bytes", bytes);
  w.put("text", text);
  w.put("no text", "");
  w.put("none", std::vector<double>{});
  w.put("real", 0.1);
  w.put("float", 0.1f);
  w.put("zero", 0);
  w.put("int", -3);
  w.put("flag", true);
  w.put("seed", ~uint64_t(0));
  w.put("a name\nof two lines", int64_t(1) << 40);
  w.write(f / "a");
  w.write(f / "b");
  CHECK(read_file(f / "a") == read_file(f / "b"));

  const CheckpointReader r(f / "a");
  const auto same = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
  };
  CHECK(same(r.get<std::vector<double>>("reals"), reals));
  CHECK(same(r.get<std::vector<double>>("reals", reals.size()), reals));
  CHECK(same(r.get<std::vector<float>>("floats"), floats));
  CHECK(r.get<std::vector<int64_t>>("ints") == ints);
  CHECK(r.get<std::vector<uint8_t>>("bytes") == bytes);
  CHECK(r.get<std::string>("text") == text);
  CHECK(r.get<std::string>("no text").empty());
  CHECK(r.get<std::vector<double>>("none").empty());
  CHECK(r.get<double>("real") == 0.1);
  CHECK(r.get<float>("float") == 0.1f);
  CHECK(r.get<int64_t>("zero") == 0);
  CHECK(r.get<int64_t>("int") == -3);
  CHECK(r.get<int64_t>("flag") == 1);
  CHECK(r.get<uint64_t>("seed") == ~uint64_t(0));
  CHECK(r.get<int64_t>("a name\nof two lines") == int64_t(1) << 40);

  SECTION("what is not there, or otherwise") {
    CHECK(error_of([&] { r.get<double>("missing"); }).has("has no 'missing'"));
    CHECK(error_of([&] { r.get<std::vector<float>>("reals"); }).has("has 'reals' as 7 x double, wanted is float"));
    CHECK(error_of([&] { r.get<std::vector<double>>("reals", 8); }).has("as 7 x double, wanted is 8 x double"));
    CHECK(error_of([&] { r.get<double>("reals"); }).has("as 7 x double, wanted is 1 x double"));
    CHECK(error_of([&] { r.get<int64_t>("real"); }).has("wanted is 1 x int64"));
    CHECK(error_of([&] { r.get<std::string>("bytes"); }).has("as 3 x uint8, wanted is char"));
    CHECK(error_of([&] { r.get<double>("none"); }).has("as 0 x double"));
  }
  SECTION("a name twice") {
    CHECK(error_of([&] { w.put("real", 1.0); }).has("'real' already"));
  }
}

TEST_CASE("checkpoint: the format does not change unnoticed") {
  const Folder f;
  CheckpointWriter w;
  w.put("n", 2);
  w.put("x", std::vector<float>{1});
  w.write(f / "a");
  std::string wanted =
      "BSSTANCE\1\0\0\0\2\0\0\0"
      "\1\0\0\0ni\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
      "\1\0\0\0xf\1\0\0\0\0\0\0\0\0\0\x80\x3f"s;
  append_raw(wanted, crc64(wanted));
  CHECK(read_file(f / "a") == wanted);
}

TEST_CASE("checkpoint: a bit that is wrong or a byte that is missing is noticed") {
  const Folder f;
  small_checkpoint().write(f / "a");
  const std::string good = read_file(f / "a"), path = f / "b";
  read_all(CheckpointReader(f / "a"));
  for (size_t i = 0; i < good.size(); i++) {
    INFO("byte " << i << " of " << good.size());
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      put(path, bad);
      CHECK(error_of([&] { CheckpointReader r(path); }).has(path));
    }
    put(path, good.substr(0, i));
    CHECK(error_of([&] { CheckpointReader r(path); }).has(path));
  }
  put(path, good + "x");
  CHECK(error_of([&] { CheckpointReader r(path); }).has("is damaged: its checksum is wrong"));
}

TEST_CASE("checkpoint: sizes are not believed, even with a right checksum") {
  const Folder f;
  small_checkpoint().write(f / "a");
  const std::string good = read_file(f / "a"), path = f / "b";
  // whatever a byte is, it is read or refused with an Error; anything else fails the test
  for (size_t i = 0; i + sizeof(uint64_t) < good.size(); i++) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(value);
      put(path, signed_again(bad));
      error_of([&] { read_all(CheckpointReader(path)); });
    }
    put(path, signed_again(good.substr(0, i) + "12345678"));
    CHECK(error_of([&] { CheckpointReader r(path); }).has(path));
  }
  // a count that overflows when it is multiplied
  std::string bad = good;
  const size_t count = bad.find("reals") + 6;
  for (const uint64_t n : {~uint64_t(0), uint64_t(1) << 61, uint64_t(1) << 40}) {
    std::memcpy(&bad[count], &n, sizeof n);
    put(path, signed_again(bad));
    CHECK(error_of([&] { CheckpointReader r(path); }).has("'reals' goes beyond its end"));
  }
  // an entry less than there are
  bad = good;
  bad[12]--;
  put(path, signed_again(bad));
  CHECK(error_of([&] { CheckpointReader r(path); }).has("there is more than its entries"));
  // two of a name
  bad = good;
  bad.replace(bad.find("reals"), 5, "bytes");
  put(path, signed_again(bad));
  CHECK(error_of([&] { CheckpointReader r(path); }).has("'bytes' twice"));
}

TEST_CASE("checkpoint: other files") {
  const Folder f;
  const auto message = [&](const std::string& name) { return error_of([&] { CheckpointReader r(f / name); }); };
  put(f / "picture", "\x89PNG\r\n\x1a\n and so on");
  put(f / "nothing", "");
  put(f / "short", "BSSTANCE\1");
  put(f / "newer", "BSSTANCE\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"s);
  fs::create_directory(f / "folder");
  REQUIRE(mkfifo((f / "pipe").c_str(), 0600) == 0);
  CHECK(message("picture").has("is not a checkpoint of stance"));
  CHECK(message("nothing").has("is not a checkpoint of stance"));
  CHECK(message("short").has("is damaged: it ends after 9 bytes"));
  CHECK(message("newer").has("is a checkpoint of format 2"));
  CHECK(message("folder").has("is not a plain file"));
  CHECK(message("pipe").has("is not a plain file"));
  CHECK(message("missing").has("No such file or directory"));
  CHECK(error_of([] { CheckpointReader r("/dev/zero"); }).has("is not a plain file"));
}

TEST_CASE("checkpoint: a full disk leaves the old one") {
  const Folder f;
  small_checkpoint().write(f / "a");
  fs::create_symlink("/dev/full", f / "a.tmp");
  CheckpointWriter w;
  w.put("x", 1.0);
  CHECK(error_of([&] { w.write(f / "a"); }).has("the disk is full"));
  CHECK(f.files() == std::vector<std::string>{"a"});
  read_all(CheckpointReader(f / "a"));
}

TEST_CASE("csv: rows and numbers") {
  const Folder f;
  Csv csv(f / "log.csv", {"iteration", "reward", "other"});
  csv.row({0, 0.1, -0.0});
  CHECK(read_file(f / "log.csv") == "iteration,reward,other\n0,0.1,-0\n");  // there before the next row is
  csv.row({100000, 1e300, NAN});
  csv.row({123456789012, 1.0 / 3, -INFINITY});
  CHECK(read_file(f / "log.csv") == "iteration,reward,other\n0,0.1,-0\n100000,1e+300,nan\n123456789012,0.3333333333333333,-inf\n");
  CHECK(error_of([&] { csv.row({1, 2}); }).has("a row of 2 values; there are 3 columns"));
  CHECK(error_of([&] { Csv(f / "other.csv", {"a,b"}); }).has("a column cannot be named 'a,b'"));
}

TEST_CASE("csv: numbers read back to the same bits") {
  const Folder f;
  std::mt19937_64 random(3);
  std::vector<double> values;
  while (values.size() < 2000)
    if (const double x = from_bits(random()); std::isfinite(x)) values.push_back(x);
  for (int i = 0; i < 60; i++) values.push_back(std::ldexp(1 + i / 64.0, i));
  Csv csv(f / "log.csv", {"x"});
  for (const double x : values) csv.row({x});
  std::ifstream in(f / "log.csv");
  std::string line;
  std::getline(in, line);
  int wrong = 0;
  for (const double x : values) {
    std::getline(in, line);
    wrong += std::bit_cast<uint64_t>(std::strtod(line.c_str(), nullptr)) != std::bit_cast<uint64_t>(x);
  }
  CHECK(wrong == 0);
}

TEST_CASE("csv: goes on after a checkpoint") {
  const Folder f;
  const std::vector<std::string> columns = {"iteration", "x"};
  const std::string path = f / "log.csv", header = "iteration,x\n";

  SECTION("rows after it go") {
    put(path, header + "0,1\n1,2\n2,3\n3,");
    Csv(path, columns, 2).row({2, 5});
    CHECK(read_file(path) == header + "0,1\n1,2\n2,5\n");
    Csv(path, columns, 3).row({3, 6});
    CHECK(read_file(path) == header + "0,1\n1,2\n2,5\n3,6\n");
  }
  SECTION("a run from the start") {
    put(path, header + "0,1\n");
    Csv(path, columns).row({0, 9});
    CHECK(read_file(path) == header + "0,9\n");
  }
  SECTION("nothing or a part of the header is there") {
    for (const std::string& text : {""s, "itera"s, "iteration,x"s}) {
      put(path, text);
      Csv csv(path, columns);
      CHECK(read_file(path) == header);
    }
  }
  SECTION("another header") {
    for (const std::string& text : {"iteration,y\n0,1\n"s, "iteration,x,y\n"s, "iteration\n"s, "iteration,x\r\n"s, "\n"s}) {
      put(path, text);
      for (const int rows : {0, 1}) CHECK(error_of([&] { Csv(path, columns, rows); }).has("this run writes 'iteration,x'"));
      CHECK(read_file(path) == text);
    }
  }
  SECTION("fewer rows than the checkpoint says, the last one cut off") {
    put(path, header + "0,1\n1,");
    CHECK(error_of([&] { Csv(path, columns, 2); }).has("has 1 rows, the checkpoint was written after 2"));
    CHECK(read_file(path) == header + "0,1\n1,");
  }
  SECTION("no file") {
    CHECK(error_of([&] { Csv(path, columns, 2); }).has("has 0 rows"));
    CHECK(f.files().empty());
  }
}

TEST_CASE("csv: a full disk, a missing folder") {
  const Thrown e = error_of([] { Csv("/dev/full", {"x"}); });
  CHECK(e.has("'/dev/full'"));
  CHECK(e.has("No space left on device"));
  CHECK(e.has("the disk is full"));
  const Folder f;
  CHECK(error_of([&] { Csv(f / "missing/log.csv", {"x"}); }).has("its folder has to exist"));
  // full only when rows come
  fs::create_symlink("/dev/null", f / "log.csv");
  Csv csv(f / "log.csv", {"x"});
  csv.row({1});
  csv.sync();
}

TEST_CASE("tensorboard: frames and their checksums") {
  const Folder f;
  std::string path;
  {
    TensorBoard t(f / "new/folder", 40);
    path = t.path();
    t.scalar("reward", 0.5, 41, 1e9);
    const size_t before = read_file(path).size();
    t.flush();
    CHECK(read_file(path).size() > before);
    t.scalar("reward", 0.25, 42, 1e9 + 1);
  }
  CHECK(fs::path(path).filename().string().starts_with("events.out.tfevents."));
  const auto masked = [](std::string_view s) {
    const uint32_t c = crc32c(s);
    return ((c >> 15) | (c << 17)) + 0xa282ead8u;
  };
  const std::string data = read_file(path);
  std::vector<std::string> records;
  for (size_t at = 0; at < data.size();) {
    const auto n = read_raw<uint64_t>(data, at);
    REQUIRE(at + 16 + n <= data.size());
    CHECK(read_raw<uint32_t>(data, at + 8) == masked(data.substr(at, 8)));
    records.push_back(data.substr(at + 12, n));
    CHECK(read_raw<uint32_t>(data, at + 12 + n) == masked(records.back()));
    at += 16 + n;
  }
  REQUIRE(records.size() == 4);
  CHECK(records[0].substr(9) ==
        "\x1a\x0d"
        "brain.Event:2"s);
  CHECK(records[1].substr(9) == "\x10\x28\x3a\x02\x08\x01"s);  // step 40, the start of a session
  CHECK(records[2] == "\x09\0\0\0\0\x65\xcd\xcd\x41\x10\x29\x2a\x0f\x0a\x0d\x0a\x06reward\x15\0\0\0\x3f"s);

  const TensorBoard second(f / "new/folder", 42), third(f / "new/folder", 43);
  CHECK(second.path() != path);
  CHECK(third.path() != second.path());
  put(f / "file", "");
  CHECK(error_of([&] { TensorBoard t(f / "file"); }).has(f / "file"));
}

TEST_CASE("onnx: policies that cannot be exported") {
  const Folder f;
  const std::string path = f / "policy.onnx";
  const Policy good = random_policy(5, 2, {8, 4});
  export_onnx(path, good, "");
  CHECK(fs::file_size(path) > 4 * (5 * 8 + 8 * 4 + 4 * 2));
  fs::remove(path);
  const auto message = [&](auto change) {
    Policy p = good;
    change(p);
    return error_of([&] { export_onnx(path, p, ""); });
  };
  CHECK(message([](Policy& p) { p.normaliser.var.pop_back(); }).has("the size of normaliser.var is 4, it has to be 5"));
  CHECK(message([](Policy& p) { p.actor.layer[1].weight.push_back(0); }).has("the size of actor.layer[1].weight is 33"));
  CHECK(message([](Policy& p) { p.actor.layer[2].in = 3; }).has("the input of actor.layer[2]"));
  CHECK(message([](Policy& p) { p.actor.layer.pop_back(); }).has("the output of the actor is 4, it has to be 2"));
  CHECK(message([](Policy& p) { p = Policy(); }).has("is 0, it has to be 1 or more"));
  CHECK(message([](Policy& p) { p.actor.layer.clear(); }).has("the actor has no layer"));
  CHECK(message([](Policy& p) { p.actor.layer[0].bias[1] = NAN; }).has("bias0 holds nan"));
  CHECK(message([](Policy& p) { p.actor.layer[0].weight[1] = 1e39; }).has("weight0 holds"));
  CHECK(f.files().empty());
}

// For onnx_check.py and by hand: a policy, what it does, and curves, in the folder STANCE_IO_FILES.
TEST_CASE("files for other programs", "[.][stance_io_files]") {
  const char* folder = std::getenv("STANCE_IO_FILES");
  if (!folder) FAIL("STANCE_IO_FILES names no folder");
  const std::string dir = folder;
  const Policy p = random_policy(33, 5, {64, 48, 32});
  export_onnx(dir + "/policy.onnx", p, "a test: 33 observations, 5 actions");

  std::vector<std::string> columns;
  for (int i = 0; i < p.nobs; i++) columns.push_back("observation" + std::to_string(i));
  for (int i = 0; i < p.nact; i++) columns.push_back("action" + std::to_string(i));
  Csv csv(dir + "/policy.csv", columns);
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 200; i++) {
    std::vector<double> row(p.nobs);
    // float, as the model gets them; every tenth is so far off that it is clipped
    for (double& x : row) x = static_cast<float>(normal(random) * (i % 10 ? 1.5 : 50));
    const std::vector<double> action = p.act(row);
    row.insert(row.end(), action.begin(), action.end());
    csv.row(row);
  }

  // a run that stops after step 9 and goes on from a checkpoint at 5
  for (const int first : {0, 5}) {
    TensorBoard t(dir, first);
    for (int step = first; step < first + 10; step++) {
      t.scalar("train/reward", first + 0.125 * step, step, 1e9 + step);
      t.scalar("train/falls", -step, step, 1e9 + step);
    }
  }
}
