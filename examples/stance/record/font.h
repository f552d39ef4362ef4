// Text in pictures: capitals are 7 pixels high, letters 6 apart, times a scale.
#pragma once

#include <string>

#include "record/image.h"

namespace stance {

constexpr int kLetterWidth = 6, kLetterHeight = 7;

/// x, y: the top left corner of the first letter. What is outside the image is cut; what is not ASCII shows as '?'.
void draw_text(Image& image, int x, int y, const std::string& text, Colour colour, int scale = 1);

inline int text_width(const std::string& text, int scale = 1) { return kLetterWidth * scale * static_cast<int>(text.size()); }
/// text, with its end replaced by ".." if it is wider than this
std::string fit_text(const std::string& text, int width, int scale = 1);

}  // namespace stance
