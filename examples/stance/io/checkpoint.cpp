#include "io/checkpoint.h"

#include <batchsim/error.h>

#include <cstring>

#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/crc.h"
#include "io/file.h"

namespace stance {

using batchsim::Error;

namespace {

constexpr std::string_view kMagic = "BSSTANCE";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeader = kMagic.size() + 2 * sizeof(uint32_t), kChecksum = sizeof(uint64_t);

struct TypeInfo {
  size_t nbyte;
  const char* name;
};

// nbyte 0: no type of ours
TypeInfo type_info(char letter) {
  switch (letter) {
    case type_letter<double>: return {sizeof(double), "double"};
    case type_letter<float>: return {sizeof(float), "float"};
    case type_letter<int64_t>: return {sizeof(int64_t), "int64"};
    case type_letter<uint64_t>: return {sizeof(uint64_t), "uint64"};
    case type_letter<uint8_t>: return {sizeof(uint8_t), "uint8"};
    case type_letter<char>: return {sizeof(char), "char"};
    default: return {0, "?"};
  }
}

std::string describe(char type, size_t count) { return std::to_string(count) + " x " + type_info(type).name; }

}  // namespace

void CheckpointWriter::add(const std::string& name, char type, uint64_t count, const void* values, size_t nbyte) {
  std::string e;
  append_raw(e, static_cast<uint32_t>(name.size()));
  e += name;
  e += type;
  append_raw(e, count);
  if (nbyte) e.append(static_cast<const char*>(values), nbyte);
  if (!entries_.emplace(name, std::move(e)).second)
    throw Error(Error::kInput, "the checkpoint has an entry '" + name + "' already; put each name once");
}

void CheckpointWriter::write(const std::string& path) const {
  std::string data(kMagic);
  append_raw(data, kVersion);
  append_raw(data, static_cast<uint32_t>(entries_.size()));
  for (const auto& [name, e] : entries_) data += e;
  append_raw(data, crc64(data));
  write_atomically(path, data);
}

CheckpointReader::CheckpointReader(const std::string& path) : path_(path) {
  // before the rest is read: a foreign file may be larger than memory
  if (read_file(path, kMagic.size()) != kMagic)
    throw Error(Error::kInput, "'" + path + "' is not a checkpoint of stance; name a file that its training wrote");
  data_ = read_file(path);
  if (data_.size() < kHeader + kChecksum) damaged("it ends after " + std::to_string(data_.size()) + " bytes");
  if (const auto version = read_raw<uint32_t>(data_, kMagic.size()); version != kVersion)
    throw Error(Error::kInput, "'" + path + "' is a checkpoint of format " + std::to_string(version) +
                                   ", this program reads format " + std::to_string(kVersion) + "; use the program that wrote it");
  const size_t end = data_.size() - kChecksum;
  if (read_raw<uint64_t>(data_, end) != crc64(std::string_view(data_).substr(0, end))) damaged("its checksum is wrong");
  data_.resize(end);
  read_entries();
}

// a right checksum does not prove that the sizes are right: nothing is read or allocated that is not in the file
void CheckpointReader::read_entries() {
  size_t at = kHeader;
  const auto take = [&](size_t n, const char* what) {
    if (n > data_.size() - at) damaged(std::string(what) + " goes beyond its end");
    at += n;
    return at - n;
  };
  const auto nentry = read_raw<uint32_t>(data_, kMagic.size() + sizeof(uint32_t));
  for (uint32_t i = 0; i < nentry; i++) {
    const auto length = read_raw<uint32_t>(data_, take(sizeof(uint32_t), "an entry"));
    const std::string name = data_.substr(take(length, "a name"), length);
    const char type = data_[take(1, "an entry")];
    const auto count = read_raw<uint64_t>(data_, take(sizeof(uint64_t), "an entry"));
    const size_t size = type_info(type).nbyte;
    if (!size) damaged("the type of '" + name + "' is none");
    if (count > (data_.size() - at) / size) damaged("'" + name + "' goes beyond its end");
    const size_t offset = take(count * size, "an entry");
    if (!entries_.emplace(name, Entry{type, count, offset, count * size}).second) damaged("it has '" + name + "' twice");
  }
  if (at != data_.size()) damaged("there is more than its entries");
}

void CheckpointReader::damaged(const std::string& what) const {
  throw Error(Error::kInput, "the checkpoint '" + path_ + "' is damaged: " + what + "; take an earlier one");
}

const CheckpointReader::Entry& CheckpointReader::find(const std::string& name, char type, size_t count) const {
  const auto e = entries_.find(name);
  if (e == entries_.end())
    throw Error(Error::kInput, "the checkpoint '" + path_ + "' has no '" + name + "'; it is of another kind of run");
  const Entry& found = e->second;
  if (found.type != type || (count != kAnySize && found.count != count))
    throw Error(Error::kInput, "the checkpoint '" + path_ + "' has '" + name + "' as " + describe(found.type, found.count) +
                                   ", wanted is " + (count == kAnySize ? type_info(type).name : describe(type, count)) +
                                   "; it is of another body or with other options");
  return found;
}

void CheckpointReader::copy(const Entry& e, void* to) const {
  if (e.nbyte) std::memcpy(to, data_.data() + e.offset, e.nbyte);
}

}  // namespace stance
