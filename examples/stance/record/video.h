// Video as Motion-JPEG in an AVI file: every frame a JPEG, which all players know and which needs no codec to write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/atomic_file.h"
#include "record/image.h"

namespace stance {

class VideoWriter {
 public:
  /// fps: frames a second, 1 ... 1000. Error(kInput) if the file cannot be written or an argument is out of range.
  VideoWriter(const std::string& path, int width, int height, int fps, int quality = 90);

  /// Error(kInput): an image of another size, or a file that would grow over kMaxBytes. The frames before it can still be closed.
  void frame(const Image& image);
  /// The file is there from here on. Without a close nothing stays.
  void close();

  int frames() const { return static_cast<int>(index_.size()); }

  static constexpr uint64_t kMaxBytes = 1'000'000'000;  ///< many players read no more of an AVI without extensions

 private:
  struct Chunk {
    uint32_t offset;  // from the word 'movi'
    uint32_t size;
  };
  std::vector<uint8_t> header() const;
  void check_open(const char* call) const;

  AtomicFile file_;
  int width_, height_, fps_, quality_;
  uint32_t movi_ = 4;  // bytes of the list of frames, its own name included
  uint32_t largest_ = 0;
  std::vector<Chunk> index_;
  bool closed_ = false, whole_ = true;
};

}  // namespace stance
