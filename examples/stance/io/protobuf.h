// A writer of protobuf's wire format, enough for ONNX and TensorBoard: each field is a key, number * 8 + wire type, and its value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/bytes.h"

namespace stance {

class Protobuf {
 public:
  /// int32, int64, bool or enum
  Protobuf& integer(int field, int64_t value) {
    key(field, kVarint);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Protobuf& real(int field, double value) { return fixed(field, kFixed64, value); }
  Protobuf& real(int field, float value) { return fixed(field, kFixed32, value); }
  /// bytes or string
  Protobuf& text(int field, std::string_view value) {
    key(field, kLength);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Protobuf& message(int field, const Protobuf& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

  void key(int field, WireType type) { varint(static_cast<uint64_t>(field) << 3 | type); }
  // seven bits a byte, the lowest first; the top bit says that more follow
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  template <class T>
  Protobuf& fixed(int field, WireType type, T value) {
    key(field, type);
    append_raw(bytes_, value);
    return *this;
  }

  std::string bytes_;
};

}  // namespace stance
