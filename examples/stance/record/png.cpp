#include "record/png.h"

#include <png.h>

#include "batchsim/error.h"
#include "io/atomic_file.h"

namespace stance {

using batchsim::Error;

void write_png(const std::string& path, const Image& image) {
  if (!image.whole())
    throw Error(Error::kInput, "cannot write '" + path + "': the image of " + std::to_string(image.width) + " x " +
                                   std::to_string(image.height) + " has " + std::to_string(image.rgb.size()) +
                                   " bytes; it needs 3 a pixel, and a pixel");
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width, png.height = image.height;
  png.format = PNG_FORMAT_RGB;

  // into memory: what libpng writes itself it does not check to the last byte
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::vector<uint8_t> bytes(size);
  if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgb.data(), 0, nullptr))
    throw Error(Error::kInput, "cannot write '" + path + "': libpng says '" + png.message + "'; write a smaller image");
  write_atomically(path, {reinterpret_cast<const char*>(bytes.data()), size});
}

}  // namespace stance
