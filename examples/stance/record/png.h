// Pictures as PNG files.
#pragma once

#include <string>

#include "record/image.h"

namespace stance {

/// Error(kInput) if the image is empty or the file cannot be written; then there is no new file.
void write_png(const std::string& path, const Image& image);

}  // namespace stance
