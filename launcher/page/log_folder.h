// LogFolder: the lines of all logs of a run's folder, as they come.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/text/growing_file.h"
#include "runtime/base/clock.h"

namespace sterna::launcher {

/// Actors and lines of theirs.
using LogLines = std::vector<std::pair<std::string, std::string>>;

class LogFolder {
 public:
  static constexpr std::size_t kMostLogs = 500;
  static constexpr Duration kListed = std::chrono::seconds(2);
  /// Of a log that was there when this began to look; of one that comes later all is new.
  static constexpr std::size_t kBytesBefore = std::size_t{32} << 10;

  explicit LogFolder(std::string path) : path_(std::move(path)) {}

  /// The whole lines that came since the last call. Looks for new logs every kListed.
  LogLines lines(Time now);

 private:
  void list();

  std::string path_;
  std::map<std::string, GrowingFile> logs_;
  std::optional<Time> listed_;
};

}  // namespace sterna::launcher
