// The log of a training as a table: a header, then a row an iteration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/file.h"

namespace stance {

class Csv {
 public:
  /// Starts the table, or goes on with it: the first resume_rows rows stay, those after them are of a run that went on beyond its
  /// checkpoint and are dropped. Throws batchsim::Error if the file has another header or fewer rows.
  Csv(const std::string& path, const std::vector<std::string>& columns, int64_t resume_rows = 0);

  /// A value a column; the system has the row when this returns. Numbers are as short as reads back to the same bits.
  void row(const std::vector<double>& values);
  /// Waits for the disk: before a checkpoint is written that counts on these rows.
  void sync() { file_.sync(); }

 private:
  std::string path_;
  size_t ncolumn_;
  size_t keep_;  // bytes of the file that stay
  OutputFile file_;
};

}  // namespace stance
