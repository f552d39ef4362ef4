#include "record/sheet.h"

#include <algorithm>
#include <utility>

#include "batchsim/error.h"
#include "record/font.h"

namespace stance {
namespace {

using batchsim::Error;

constexpr Colour kPaper{248, 248, 246}, kInk{40, 44, 52};
constexpr int kMargin = 12;

std::string size_of(const Image& i) { return std::to_string(i.width) + " x " + std::to_string(i.height); }

}  // namespace

Sheet::Sheet(std::string title, int columns) : title_(std::move(title)), columns_(columns) {
  if (columns < 1 || columns > 100)
    throw Error(Error::kInput, "a contact sheet of " + std::to_string(columns) + " columns; allowed are 1 ... 100");
}

void Sheet::add(Image frame, std::string label) {
  if (!frame.whole())
    throw Error(Error::kInput, "frame " + std::to_string(frames_.size()) + " of a contact sheet, " + size_of(frame) + ", has " +
                                   std::to_string(frame.rgb.size()) + " bytes; it needs 3 a pixel, and a pixel");
  const Image& first = frames_.empty() ? frame : frames_[0].image;
  if (frame.width != first.width || frame.height != first.height)
    throw Error(Error::kInput, "frame " + std::to_string(frames_.size()) + " of a contact sheet is " + size_of(frame) +
                                   ", the first is " + size_of(first) + "; render all at one size");
  frames_.push_back({std::move(frame), std::move(label)});
}

Image Sheet::image() const {
  if (frames_.empty()) throw Error(Error::kInput, "the contact sheet '" + title_ + "' has no frame; add() one before image()");
  const int width = frames_[0].image.width, height = frames_[0].image.height;
  const int columns = std::min(columns_, frames()), rows = (frames() + columns - 1) / columns;
  // letters of a size that 32 of them fit under a frame
  const int scale = std::clamp(width / (32 * kLetterWidth), 1, 4), line = kLetterHeight * scale;
  const int title_line = title_.empty() ? 0 : line * 3 / 2 + kMargin;
  const int cell_width = width + kMargin, cell_height = height + kMargin / 2 + line + kMargin;

  Image sheet(kMargin + columns * cell_width, kMargin + title_line + rows * cell_height);
  for (int y = 0; y < sheet.height; y++)
    for (int x = 0; x < sheet.width; x++) {
      uint8_t* p = sheet.at(x, y);
      p[0] = kPaper.r, p[1] = kPaper.g, p[2] = kPaper.b;
    }
  draw_text(sheet, kMargin, kMargin + line / 4, fit_text(title_, sheet.width - 2 * kMargin, scale), kInk, scale);
  for (int k = 0; k < frames(); k++) {
    const Image& frame = frames_[k].image;
    const int x = kMargin + k % columns * cell_width, y = kMargin + title_line + k / columns * cell_height;
    for (int row = 0; row < height; row++) std::copy_n(frame.at(0, row), 3 * width, sheet.at(x, y + row));
    draw_text(sheet, x, y + height + kMargin / 2, fit_text(frames_[k].label, width, scale), kInk, scale);
  }
  return sheet;
}

}  // namespace stance
