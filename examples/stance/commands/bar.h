// The line that shows how a training goes: redrawn on a terminal, otherwise one now and then.
#pragma once

#include <string>

#include "train/run.h"

namespace stance {

class Bar {
 public:
  /// price: of an hour, in whatever money; 0: costs are not shown
  Bar(std::string what, double price);
  ~Bar();
  Bar(const Bar&) = delete;

  void show(const Shown& s);
  /// Ends the line, so that something else can be printed.
  void end();

 private:
  std::string what_;
  double price_;
  bool terminal_, drawn_ = false;
  int level_ = -1;
  std::string overflow_;
};

/// "1 min 23 s", and its cost if there is a price
std::string duration(double seconds, double price);

}  // namespace stance
