// Curves for TensorBoard: an event file, which is a TFRecord file of Event messages.
#pragma once

#include <cstdint>
#include <string>

#include "io/file.h"
#include "io/protobuf.h"

namespace stance {

class TensorBoard {
 public:
  /// Starts an event file in folder dir, which is made if it is not there. first_step: where this run starts or goes on; what
  /// earlier files of the folder have from there on is no longer shown.
  explicit TensorBoard(const std::string& dir, int64_t first_step = 0);
  ~TensorBoard();
  TensorBoard(const TensorBoard&) = delete;
  TensorBoard& operator=(const TensorBoard&) = delete;

  /// wall_time: seconds since 1970
  void scalar(const std::string& tag, double value, int64_t step, double wall_time);
  /// Hands what was added to the system; throws batchsim::Error if it cannot.
  void flush();

  const std::string& path() const { return path_; }

 private:
  void record(const Protobuf& event);

  std::string path_, pending_;
  OutputFile file_;
};

}  // namespace stance
