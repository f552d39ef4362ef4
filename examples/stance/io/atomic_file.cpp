#include "io/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace stance {

namespace fs = std::filesystem;
using batchsim::Error;

namespace {

constexpr int kMaxLinks = 40;  // as the system

// what is to be replaced; the rename would put a plain file in the place of a link or a device
fs::path target_of(const std::string& path) {
  std::error_code ec;
  fs::path target = path;
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, ec)); i++) {
    if (i == kMaxLinks) throw write_error(path, ELOOP);
    target = target.parent_path() / fs::read_symlink(target, ec);  // an absolute one stays as it is
    if (ec) throw write_error(path, ec.value());
  }
  const fs::file_status s = fs::status(target, ec);
  if (fs::exists(s) && !fs::is_regular_file(s))
    throw Error(Error::kInput, "cannot write '" + path + "': it is not a plain file; name a file");
  return target;
}

// so that the rename outlives a loss of power
void sync_folder(const fs::path& folder) {
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;  // a folder that may be written to but not read
  const int code = fsync(fd) ? errno : 0;
  close(fd);
  // EINVAL: a file system that has no such thing
  if (code && code != EINVAL) throw write_error(folder.string(), code);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path)
    : path_(path), target_(target_of(path).string()), beside_(target_ + ".tmp"), file_(beside_, O_TRUNC) {}

AtomicFile::~AtomicFile() {
  if (there_) std::remove(beside_.c_str());
}

void AtomicFile::commit() {
  file_.sync();
  file_.close();
  if (std::rename(beside_.c_str(), target_.c_str())) throw write_error(path_, errno);
  there_ = false;
  sync_folder(fs::path(target_).parent_path());
}

void write_atomically(const std::string& path, std::string_view data) {
  AtomicFile file(path);
  file.write(data);
  file.commit();
}

}  // namespace stance
