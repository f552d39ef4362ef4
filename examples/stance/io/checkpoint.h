// Checkpoints: named values in a file that is either whole or refused.
//
//   "BSSTANCE", format version (uint32), number of entries (uint32)
//   an entry: length of its name (uint32), name, type (a letter), count (uint64), values
//   CRC-64 of all before it (uint64)
//
// Little-endian, without gaps. Values are copies of memory, so reals keep every bit.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stance {

/// The letter of an element's type in the file.
template <class T>
inline constexpr char type_letter = 0;
template <>
inline constexpr char type_letter<double> = 'd';
template <>
inline constexpr char type_letter<float> = 'f';
template <>
inline constexpr char type_letter<int64_t> = 'i';
template <>
inline constexpr char type_letter<uint64_t> = 'u';
template <>
inline constexpr char type_letter<uint8_t> = 'b';
template <>
inline constexpr char type_letter<char> = 's';  ///< of a std::string

template <class T>
concept Element = type_letter<T>
!= 0 && !std::same_as<T, char>;

class CheckpointWriter {
 public:
  template <Element T>
  void put(const std::string& name, const std::vector<T>& values) {
    add(name, type_letter<T>, values.size(), values.data(), values.size() * sizeof(T));
  }
  template <Element T>
  void put(const std::string& name, T value) {
    add(name, type_letter<T>, 1, &value, sizeof value);
  }
  /// int, bool and others become int64_t
  template <std::integral T>
  requires(!Element<T>) void put(const std::string& name, T value) { put(name, static_cast<int64_t>(value)); }
  void put(const std::string& name, const std::string& text) {
    add(name, type_letter<char>, text.size(), text.data(), text.size());
  }

  /// Replaces path as a whole, see atomic_file.h. Throws batchsim::Error.
  void write(const std::string& path) const;

 private:
  void add(const std::string& name, char type, uint64_t count, const void* values, size_t nbyte);

  std::map<std::string, std::string> entries_;  // by name, as they are in the file
};

class CheckpointReader {
 public:
  /// Throws batchsim::Error if path is not a checkpoint, is of another version, or is damaged.
  explicit CheckpointReader(const std::string& path);

  /// An entry by its name: a scalar, a std::vector or a std::string, of the type it was put with. size: how many values a vector
  /// has to have. Throws batchsim::Error if there is no such entry.
  template <class T>
  T get(const std::string& name, size_t size = kAnySize) const {
    if constexpr (Element<T>) {
      T value;
      copy(find(name, type_letter<T>, 1), &value);
      return value;
    } else {
      using V = typename T::value_type;
      static_assert(std::same_as<T, std::string> || (std::same_as<T, std::vector<V>> && Element<V>));
      const Entry& e = find(name, type_letter<V>, size);
      T values(e.count, V());
      copy(e, values.data());
      return values;
    }
  }

 private:
  static constexpr size_t kAnySize = SIZE_MAX;
  struct Entry {
    char type;
    size_t count, offset, nbyte;
  };

  [[noreturn]] void damaged(const std::string& what) const;
  void read_entries();
  const Entry& find(const std::string& name, char type, size_t count) const;
  void copy(const Entry& e, void* to) const;

  std::string path_, data_;
  std::map<std::string, Entry> entries_;
};

}  // namespace stance
