// Pictures as JPEG, in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "record/image.h"

namespace stance {

/// quality: 1 ... 100. Error(kInput) if the image is empty or larger than JPEG's 65,500 pixels a side.
std::vector<uint8_t> encode_jpeg(const Image& image, int quality);

}  // namespace stance
