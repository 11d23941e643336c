// LineSink: where the lines of a run's metrics go.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

class LineSink {
 public:
  virtual ~LineSink() = default;
  virtual const std::string& path() const = 0;
  /// `line` without its end. May wait as long as its disk does. After an error nothing of it is
  /// there, so the next may be tried.
  virtual Result<void> append(std::string_view line) = 0;
  /// A full disk may show only here.
  virtual Result<void> close() = 0;
};

}  // namespace sterna::launcher
