// MetricsFile: a file that a run's metrics go to, metrics.jsonl or another view of its lines,
// written by a thread of its own: a disk that hangs, or is full, costs lines and no step. A line of
// kind "lost" stands where some are missing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/record/line_sink.h"
#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "runtime/base/result.h"
#include "runtime/loop/text_writer.h"

namespace sterna::launcher {

class MetricsFile {
 public:
  /// So long a line may take before the disk is said to hang.
  static constexpr Duration kHangs = std::chrono::seconds(4);
  /// So long a disk that was full has to take every line before that is said: one that is nearly
  /// full takes the short ones.
  static constexpr Duration kTakesAgain = std::chrono::seconds(5);

  /// `say` is told, on the caller's thread and once each, that the disk hangs or takes no lines,
  /// and that it does so no more. `clock` must outlive it.
  MetricsFile(std::unique_ptr<LineSink> sink, std::function<void(const std::string& line)> say,
              const Clock& clock, Duration hangs = kHangs);
  /// Line by line as they are.
  MetricsFile(LineFile file, std::function<void(const std::string& line)> say, const Clock& clock,
              Duration hangs = kHangs);
  ~MetricsFile();

  /// One line, given without its end. Never waits.
  void append(std::string line);
  /// Says what is to be said; also now and then without a line.
  void look();
  /// Waits a while for what was appended, and closes the file: where a network file system says
  /// what it could not write. An error that was said before is none.
  Result<void> close();
  /// Lines that are not in the file, so far.
  std::uint64_t lost() const;

 private:
  struct State;
  /// Lines that the disk took, or did not.
  struct Tally {
    std::uint64_t taken = 0;
    std::uint64_t refused = 0;
  };
  void look_whether_it_takes_lines();
  std::shared_ptr<State> state_;
  std::function<void(const std::string& line)> say_;
  const Clock& clock_;
  Duration patience_;
  bool hangs_ = false;
  bool fails_ = false;
  std::optional<Time> takes_from_;  ///< since when it takes every line, of one that has failed
  Tally seen_;                      ///< at that time
  TextWriter writer_;
};

/// All that a run's metrics go to.
class MetricsFiles {
 public:
  void add(std::unique_ptr<MetricsFile> file) { files_.push_back(std::move(file)); }
  /// As a MetricsFile's, of each.
  void append(const std::string& line);
  void look();
  /// The first error.
  Result<void> close();
  /// Of the first file alone.
  std::uint64_t lost() const { return files_.empty() ? 0 : files_.front()->lost(); }

 private:
  std::vector<std::unique_ptr<MetricsFile>> files_;
};

}  // namespace sterna::launcher
