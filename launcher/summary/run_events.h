// RunEvents: a run's metrics as TensorBoard's events, line by line. Where the originals have a tag
// for a quantity it is theirs (TernGrad's trainer: terngrad/inception_train.py, its evaluation:
// inception_eval.py).
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "launcher/text/json_line.h"

namespace sterna::launcher {

/// Whole records of a TFRecord file; either may be empty.
struct EventRecords {
  /// What such a file begins with, and where a restart begins again: without them those behind are
  /// misread, so they stand before them however late.
  std::string needed;
  std::string own;  ///< the line's, behind those
};

class RunEvents {
 public:
  /// `began`: seconds since 1970, where the lines do not say. `resolved`: the run's file, which is
  /// shown as a text; empty: none.
  RunEvents(double began, std::string resolved) : began_(began), resolved_(std::move(resolved)) {}

  /// What goes into the file for a line of metrics.jsonl, with the first line what such a file
  /// begins with. What a line does not know (null) has no event.
  EventRecords records_of(const Json& line);

 private:
  double began_;
  std::string resolved_;
  double seconds_ = 0;  ///< since then, by the last line that said so
  std::int64_t last_step_ = 0;
  bool begun_ = false;
};

}  // namespace sterna::launcher
