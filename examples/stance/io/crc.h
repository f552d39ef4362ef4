// Checksums of files: CRC-32C for TensorBoard, CRC-64 (that of xz) for checkpoints.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

namespace stance {

/// A reflected CRC that starts from all ones and is inverted at the end; the polynomial has its highest power in bit 0.
template <std::unsigned_integral T, T kPolynomial>
T reflected_crc(std::string_view data) {
  static constexpr std::array<T, 256> table = [] {
    std::array<T, 256> a{};
    for (unsigned byte = 0; byte < 256; byte++) {
      T r = byte;
      for (int bit = 0; bit < 8; bit++) r = r & 1 ? (r >> 1) ^ kPolynomial : r >> 1;
      a[byte] = r;
    }
    return a;
  }();
  T r = ~T(0);
  for (const unsigned char c : data) r = table[(r ^ c) & 0xff] ^ (r >> 8);
  return ~r;
}

inline uint32_t crc32c(std::string_view data) { return reflected_crc<uint32_t, 0x82f63b78u>(data); }
inline uint64_t crc64(std::string_view data) { return reflected_crc<uint64_t, 0xc96c5795d7870f42u>(data); }

}  // namespace stance
