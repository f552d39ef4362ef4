// Values as the bytes of a file: little-endian, which all formats here ask for.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace stance {

static_assert(std::endian::native == std::endian::little, "files of stance are copies of memory; a big-endian machine has to swap");

template <class T>
void append_raw(std::string& to, const T& value) {
  static_assert(std::is_arithmetic_v<T>);
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The value at an offset that the caller has checked.
template <class T>
T read_raw(std::string_view from, size_t offset) {
  static_assert(std::is_arithmetic_v<T>);
  T value;
  std::memcpy(&value, from.data() + offset, sizeof value);
  return value;
}

}  // namespace stance
