#include "io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace stance {

using batchsim::Error;

namespace {

std::string reason(int code) { return std::generic_category().message(code); }

const char* remedy(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT: return ": the disk is full; make room on it, or write to another one";
    case ENOENT:
    case ENOTDIR: return "; its folder has to exist";
    case EACCES:
    case EPERM:
    case EROFS: return "; choose a folder that you may write to";
    default: return "; choose another place";
  }
}

// closes at the end of a scope; of a file that was only read there is nothing to lose
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Error write_error(const std::string& path, int code) {
  return Error(Error::kInput, "cannot write '" + path + "' (" + reason(code) + ")" + remedy(code));
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw write_error(path, error.value());
}

std::string read_file(const std::string& path, size_t limit) {
  const auto fail = [&](const std::string& why) { return Error(Error::kInput, "cannot read '" + path + "' (" + why + ")"); };
  // without O_NONBLOCK a pipe would be waited for
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat s;
  if (file.fd < 0 || fstat(file.fd, &s)) throw fail(reason(errno));
  if (!S_ISREG(s.st_mode)) throw fail("it is not a plain file");
  std::string data(std::min(static_cast<size_t>(s.st_size), limit), '\0');
  size_t have = 0;
  while (have < data.size()) {
    const ssize_t n = read(file.fd, data.data() + have, data.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw fail(reason(errno));
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  data.resize(have);
  return data;
}

OutputFile::OutputFile(const std::string& path, int flags)
    : path_(path), fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666)) {
  if (fd_ < 0) throw write_error(path_, errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::write(std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd_, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw write_error(path_, errno);
    data.remove_prefix(static_cast<size_t>(n));
  }
}

void OutputFile::truncate(size_t size) {
  struct stat s;
  if (fstat(fd_, &s)) throw write_error(path_, errno);
  if (S_ISREG(s.st_mode) && static_cast<size_t>(s.st_size) > size && ftruncate(fd_, static_cast<off_t>(size)))
    throw write_error(path_, errno);
}

void OutputFile::rewind() {
  if (lseek(fd_, 0, SEEK_SET)) throw write_error(path_, errno);
}

void OutputFile::sync() {
  // devices and pipes cannot be synced and say EINVAL
  if (fsync(fd_) && errno != EINVAL) throw write_error(path_, errno);
}

void OutputFile::close() {
  const int fd = fd_;
  fd_ = -1;  // closed even if it fails
  if (::close(fd)) throw write_error(path_, errno);
}

}  // namespace stance
