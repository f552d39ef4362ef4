#include "io/csv.h"

#include <fcntl.h>

#include <charconv>
#include <cmath>
#include <filesystem>

namespace stance {

using batchsim::Error;

namespace {

std::string header_of(const std::string& path, const std::vector<std::string>& columns) {
  std::string header;
  for (const std::string& c : columns) {
    if (c.empty() || c.find_first_of(",\"\r\n") != std::string::npos)
      throw Error(Error::kInput, "'" + path + "': a column cannot be named '" + c + "'; use a word");
    header += (header.empty() ? "" : ",") + c;
  }
  return header;
}

// bytes of the header and the first rows of the file that is there; 0: there is none, or a header that a full disk cut off
size_t bytes_to_keep(const std::string& path, const std::string& header, int64_t rows) {
  std::error_code ec;
  const std::string text = std::filesystem::is_regular_file(path, ec) ? read_file(path) : "",
                    there = text.substr(0, text.find('\n'));
  const bool begun = header.starts_with(text);
  if (begun && rows <= 0) return 0;
  if (!begun && there != header)
    throw Error(Error::kInput, "'" + path + "' has the columns '" + there + "', this run writes '" + header +
                                   "'; move that file away or choose another folder");
  size_t end = begun ? text.size() : header.size() + 1;
  for (int64_t i = 0; i < rows; i++) {
    const size_t newline = text.find('\n', end);
    if (newline == std::string::npos)
      throw Error(Error::kInput, "'" + path + "' has " + std::to_string(i) + " rows, the checkpoint was written after " +
                                     std::to_string(rows) +
                                     "; put the log of that run there, or start a new run in another folder");
    end = newline + 1;
  }
  return end;
}

// whole numbers without an exponent, which to_chars would prefer for 100000
std::string number(double x) {
  char s[32];
  const bool whole = std::abs(x) < 1e15 && x == std::trunc(x);
  const auto r = whole ? std::to_chars(s, s + sizeof s, x, std::chars_format::fixed) : std::to_chars(s, s + sizeof s, x);
  return {s, r.ptr};
}

}  // namespace

Csv::Csv(const std::string& path, const std::vector<std::string>& columns, int64_t resume_rows)
    : path_(path),
      ncolumn_(columns.size()),
      keep_(bytes_to_keep(path, header_of(path, columns), resume_rows)),
      file_(path, O_APPEND) {
  file_.truncate(keep_);
  if (!keep_) file_.write(header_of(path, columns) + "\n");
}

void Csv::row(const std::vector<double>& values) {
  if (values.size() != ncolumn_)
    throw Error(Error::kInput, "'" + path_ + "': a row of " + std::to_string(values.size()) + " values; there are " +
                                   std::to_string(ncolumn_) + " columns");
  std::string line;
  for (const double x : values) line += (line.empty() ? "" : ",") + number(x);
  file_.write(line + "\n");
}

}  // namespace stance
