// MetricsFile: a file that a run's metrics go to, metrics.jsonl or another view of its lines,
// written by a thread of its own: a disk that hangs, or is full, costs lines and no step. A line of
// kind "lost" stands where some are missing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/record/line_sink.h"
#include "runtime/base/file.h"
#include "runtime/base/result.h"
#include "runtime/loop/text_writer.h"

namespace sterna::launcher {

class MetricsFile {
 public:
  /// So long a line may take before the disk is said to hang.
  static constexpr Duration kHangs = std::chrono::seconds(4);

  /// `say` is told, on the caller's thread and once each, that the disk hangs or takes no lines,
  /// and that it does so no more.
  MetricsFile(std::unique_ptr<LineSink> sink, std::function<void(const std::string& line)> say,
              Duration hangs = kHangs);
  /// Line by line as they are.
  MetricsFile(LineFile file, std::function<void(const std::string& line)> say,
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
  std::shared_ptr<State> state_;
  std::function<void(const std::string& line)> say_;
  Duration patience_;
  bool hangs_ = false;
  bool fails_ = false;
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
