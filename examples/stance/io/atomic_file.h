// Files that are there as a whole or not at all, whenever the program or the machine stops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.h"

namespace stance {

/// Written beside its place, then moved there; what was there stays until then. Every call throws batchsim::Error if the system refuses.
class AtomicFile {
 public:
  /// Opens path + ".tmp". Of a symbolic link the file that it points to is replaced.
  explicit AtomicFile(const std::string& path);
  /// Without a commit nothing stays.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view data) { file_.write(data); }
  void write(const std::vector<uint8_t>& data) { write({reinterpret_cast<const char*>(data.data()), data.size()}); }
  /// The next write starts over what is at the beginning.
  void rewind() { file_.rewind(); }
  /// Waits for the disk and moves the file to its place.
  void commit();

  const std::string& path() const { return path_; }

 private:
  std::string path_, target_, beside_;
  OutputFile file_;
  bool there_ = true;  // beside its place
};

/// The same of data that is in memory.
void write_atomically(const std::string& path, std::string_view data);

}  // namespace stance
