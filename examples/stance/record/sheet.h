// A contact sheet: frames in rows, each with a line of text, under a title.
#pragma once

#include <string>
#include <vector>

#include "record/image.h"

namespace stance {

class Sheet {
 public:
  /// columns: 1 ... 100
  Sheet(std::string title, int columns);

  /// All frames have the size of the first, else Error(kInput). label: such as "t 2.3 s  shove 120 N"; cut where the frame ends.
  void add(Image frame, std::string label);
  /// Error(kInput) if there is no frame.
  Image image() const;

  int frames() const { return static_cast<int>(frames_.size()); }

 private:
  struct Frame {
    Image image;
    std::string label;
  };
  std::string title_;
  int columns_;
  std::vector<Frame> frames_;
};

}  // namespace stance
