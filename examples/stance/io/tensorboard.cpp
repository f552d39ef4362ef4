#include "io/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "io/bytes.h"
#include "io/crc.h"

namespace stance {

namespace fs = std::filesystem;

namespace {

// field numbers of event.proto and summary.proto
namespace event {
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
}
namespace session_log {
constexpr int kStatus = 1, kStart = 1;
}
namespace summary {
constexpr int kValue = 1;
}
namespace value {
constexpr int kTag = 1, kSimpleValue = 2;
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// a name that is free; TensorBoard reads a folder's files in the order of their names
std::string new_file(const std::string& dir) {
  make_folder(dir);
  std::error_code ec;
  char host[256] = "";
  if (gethostname(host, sizeof host - 1)) host[0] = '\0';
  const std::string name = dir + "/events.out.tfevents." + std::to_string(static_cast<int64_t>(now())) + "." + host;
  std::string path = name;
  for (int i = 2; fs::exists(path, ec); i++) path = name + "." + std::to_string(i);
  return path;
}

// a CRC of data that holds CRCs is weak, hence the mask
uint32_t masked_crc(std::string_view data) {
  const uint32_t c = crc32c(data);
  return (c >> 15 | c << 17) + 0xa282ead8u;
}

}  // namespace

TensorBoard::TensorBoard(const std::string& dir, int64_t first_step) : path_(new_file(dir)), file_(path_, O_EXCL) {
  record(Protobuf().real(event::kWallTime, now()).text(event::kFileVersion, "brain.Event:2"));
  record(Protobuf()
             .real(event::kWallTime, now())
             .integer(event::kStep, first_step)
             .message(event::kSessionLog, Protobuf().integer(session_log::kStatus, session_log::kStart)));
  flush();
}

TensorBoard::~TensorBoard() {
  try {
    flush();
  } catch (const batchsim::Error&) {  // who wants to know calls flush
  }
}

void TensorBoard::scalar(const std::string& tag, double value, int64_t step, double wall_time) {
  const Protobuf point = Protobuf().text(value::kTag, tag).real(value::kSimpleValue, static_cast<float>(value));
  record(Protobuf()
             .real(event::kWallTime, wall_time)
             .integer(event::kStep, step)
             .message(event::kSummary, Protobuf().message(summary::kValue, point)));
}

// length, its CRC, data, their CRC
void TensorBoard::record(const Protobuf& event) {
  std::string length;
  append_raw(length, static_cast<uint64_t>(event.bytes().size()));
  pending_ += length;
  append_raw(pending_, masked_crc(length));
  pending_ += event.bytes();
  append_raw(pending_, masked_crc(event.bytes()));
}

void TensorBoard::flush() {
  // taken before: a write that fails half-way is not repeated, which would spoil what follows
  const std::string data = std::exchange(pending_, {});
  file_.write(data);
}

}  // namespace stance
