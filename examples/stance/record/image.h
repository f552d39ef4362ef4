// A picture: 8-bit RGB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stance {

struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;  ///< (height, width, 3), top row first

  Image() = default;
  Image(int width, int height) : width(width), height(height), rgb(size_t(3) * width * height) {}

  uint8_t* at(int x, int y) { return &rgb[3 * (size_t(y) * width + x)]; }
  const uint8_t* at(int x, int y) const { return &rgb[3 * (size_t(y) * width + x)]; }
  /// rgb has the bytes that width and height promise, and there is at least one pixel
  bool whole() const { return width > 0 && height > 0 && rgb.size() == size_t(3) * width * height; }
};

struct Colour {
  uint8_t r = 0, g = 0, b = 0;
};

}  // namespace stance
