#include "record/video.h"

#include <algorithm>
#include <cstring>

#include "batchsim/error.h"
#include "record/jpeg.h"

namespace stance {
namespace {

using batchsim::Error;

constexpr uint32_t kHasIndex = 0x10, kKeyFrame = 0x10;
constexpr uint32_t kHeaderBytes = 224, kIndexEntryBytes = 16;

// RIFF: little-endian numbers, names of four letters, lists with their size before them
class Riff {
 public:
  void name(const char* fourcc) { bytes_.insert(bytes_.end(), fourcc, fourcc + 4); }
  void u16(uint32_t x) {
    for (int shift = 0; shift < 16; shift += 8) bytes_.push_back(static_cast<uint8_t>(x >> shift));
  }
  template <class... Numbers>
  void u32(Numbers... numbers) {
    for (uint32_t x : {static_cast<uint32_t>(numbers)...}) u16(x & 0xffff), u16(x >> 16);
  }
  // size: of what follows the name and the size
  void chunk(const char* fourcc, uint32_t size) { name(fourcc), u32(size); }
  void list(const char* fourcc, uint32_t size, const char* form) { chunk(fourcc, size), name(form); }

  std::vector<uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

void check_range(const char* what, int value, int most) {
  if (value >= 1 && value <= most) return;
  throw Error(Error::kInput,
              std::string(what) + " of a video is " + std::to_string(value) + "; allowed are 1 ... " + std::to_string(most));
}

}  // namespace

VideoWriter::VideoWriter(const std::string& path, int width, int height, int fps, int quality)
    : file_(path), width_(width), height_(height), fps_(fps), quality_(quality) {
  check_range("width", width, 16384);
  check_range("height", height, 16384);
  check_range("fps", fps, 1000);
  check_range("quality", quality, 100);
  // its place; what it says is known at the end
  const std::vector<uint8_t> h = header();
  file_.write(h);
}

std::vector<uint8_t> VideoWriter::header() const {
  const uint32_t n = frames(), index = kIndexEntryBytes * n;
  Riff r;
  r.list("RIFF", kHeaderBytes - 8 - 4 + movi_ + 8 + index, "AVI ");
  r.list("LIST", 192, "hdrl");
  r.chunk("avih", 56);
  // us a frame, bytes a second, alignment, flags, frames, frames before sound, streams, largest chunk, size, reserved
  r.u32(1'000'000 / fps_, std::min<uint64_t>(uint64_t(largest_) * fps_, UINT32_MAX), 0, kHasIndex, n, 0, 1, largest_ + 8, width_,
        height_, 0, 0, 0, 0);

  r.list("LIST", 116, "strl");
  r.chunk("strh", 56);
  r.name("vids"), r.name("MJPG");
  // flags, priority and language, frames before sound, scale, rate, start, length, largest chunk, quality and sample size (unsaid)
  r.u32(0, 0, 0, 1, fps_, 0, n, largest_ + 8, UINT32_MAX, 0);
  r.u16(0), r.u16(0), r.u16(width_), r.u16(height_);
  r.chunk("strf", 40);
  r.u32(40, width_, height_), r.u16(1), r.u16(24), r.name("MJPG"), r.u32(3 * width_ * height_, 0, 0, 0, 0);

  r.list("LIST", movi_, "movi");
  return r.bytes();
}

void VideoWriter::check_open(const char* call) const {
  if (closed_) throw Error(Error::kInput, "the video '" + file_.path() + "' is closed; call " + call + "() before close()");
  if (!whole_)
    throw Error(Error::kInput, "the video '" + file_.path() + "' lacks a frame that could not be written; record it anew");
}

void VideoWriter::frame(const Image& image) {
  check_open("frame");
  if (image.width != width_ || image.height != height_)
    throw Error(Error::kInput, "a frame of " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                                   " for the video '" + file_.path() + "' of " + std::to_string(width_) + " x " +
                                   std::to_string(height_) + "; give frames of the video's size");
  std::vector<uint8_t> jpeg = encode_jpeg(image, quality_);
  const auto size = static_cast<uint32_t>(jpeg.size());
  if (size % 2) jpeg.push_back(0);  // chunks start at even places

  const uint64_t total =
      kHeaderBytes - 4 + uint64_t(movi_) + 8 + jpeg.size() + 8 + uint64_t(kIndexEntryBytes) * (index_.size() + 1);
  if (total > kMaxBytes)
    throw Error(Error::kInput, "the video '" + file_.path() + "' would have " + std::to_string(total) + " bytes with frame " +
                                   std::to_string(index_.size()) + "; allowed are " + std::to_string(kMaxBytes) +
                                   ": record fewer or smaller frames, or close it and go on in another file");
  Riff head;
  head.chunk("00dc", size);
  whole_ = false;
  file_.write(head.bytes());
  file_.write(jpeg);
  whole_ = true;
  index_.push_back({movi_, size});
  movi_ += 8 + static_cast<uint32_t>(jpeg.size());
  largest_ = std::max(largest_, size);
}

void VideoWriter::close() {
  check_open("close");
  if (index_.empty()) throw Error(Error::kInput, "the video '" + file_.path() + "' has no frame; call frame() before close()");
  Riff index;
  index.chunk("idx1", kIndexEntryBytes * frames());
  for (const Chunk& c : index_) index.name("00dc"), index.u32(kKeyFrame, c.offset, c.size);
  const std::vector<uint8_t> tail = index.bytes(), h = header();
  file_.write(tail);
  file_.rewind();
  file_.write(h);
  closed_ = true;
  file_.commit();
}

}  // namespace stance
