// One line on standard error that says how far a long command is; nothing where that is no
// terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"

namespace sterna::launcher {

class ProgressLine {
 public:
  /// `clock` must outlive this.
  explicit ProgressLine(const Clock& clock);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Erases the line.
  ~ProgressLine();

  /// Shows `text` in place of the last one, at most ten times a second.
  void show(std::string_view text);

 private:
  const Clock& clock_;
  const bool terminal_;
  std::optional<Time> shown_at_;
};

}  // namespace sterna::launcher
