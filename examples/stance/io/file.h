// Files by their descriptors, so that errors are those of the system and what was written can be forced to the disk.
#pragma once

#include <batchsim/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace stance {

/// What to throw when path cannot be written: the system's reason and what to do about it. code: an errno.
batchsim::Error write_error(const std::string& path, int code);

/// Makes a folder and those above it, where they are missing. Throws batchsim::Error.
void make_folder(const std::string& path);

/// A file's bytes, at most the first limit ones. Throws batchsim::Error; also for what is not a plain file, which might have no
/// end.
std::string read_file(const std::string& path, size_t limit = SIZE_MAX);

/// A file that is written. Every call throws batchsim::Error if the system refuses.
class OutputFile {
 public:
  /// flags: of open(2), beside O_WRONLY and O_CREAT
  OutputFile(const std::string& path, int flags);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// All of data, without a buffer in this process.
  void write(std::string_view data);
  /// Cuts what is after the first size bytes; devices and pipes have no length and are left as they are.
  void truncate(size_t size);
  /// The next write starts over what is at the beginning.
  void rewind();
  /// Waits until the disk has it.
  void sync();
  /// Some file systems report only here that there was no room.
  void close();

 private:
  std::string path_;
  int fd_;
};

}  // namespace stance
