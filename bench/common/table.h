// Tables: rows of cells in aligned columns; the first column to the left, numbers to the right.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace batchsim::tools {

template <class... Args>
std::string format(const char* f, Args... args) {
  char s[256];
  std::snprintf(s, sizeof s, f, args...);
  return s;
}

// with three digits; 12.3k, 4.56M beyond a thousand
inline std::string short_number(double x) {
  const double a = std::abs(x);
  return a >= 1e6 ? format("%.3gM", x / 1e6) : a >= 1e3 ? format("%.3gk", x / 1e3) : format("%.3g", x);
}
inline std::string error_number(double x) { return x == 0 ? "0" : std::isinf(x) ? "inf" : format("%.1e", x); }
inline std::string seconds_or(double t, const char* never) { return std::isinf(t) ? never : format("%.3f s", t); }

class Table {
 public:
  enum Align { kRight, kLeft };  // of all columns but the first
  explicit Table(std::vector<std::string> header, Align align = kRight) : align_(align) { add(std::move(header)); }
  void add(std::vector<std::string> row) {
    width_.resize(std::max(width_.size(), row.size()));
    for (size_t i = 0; i < row.size(); i++) width_[i] = std::max(width_[i], row[i].size());
    rows_.push_back(std::move(row));
  }
  void print() const {
    for (const auto& row : rows_) {
      std::string line = " ";
      for (size_t i = 0; i < row.size(); i++) {
        const std::string gap(width_[i] - row[i].size(), ' ');
        line += ' ';
        line += i && align_ == kRight ? gap + row[i] : row[i] + gap;
        line += ' ';
      }
      std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
    }
  }

 private:
  Align align_;
  std::vector<size_t> width_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace batchsim::tools
