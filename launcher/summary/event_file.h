// EventFile: a run's metrics in a file that TensorBoard reads, and follows while it grows.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/record/line_sink.h"
#include "launcher/summary/run_events.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

class EventFile final : public LineSink {
 public:
  /// Makes a file of its own in `folder`: another run's, or another attempt's, stays as it is, and
  /// whatever a kill left at its end. `began` (seconds since 1970) and `resolved` as RunEvents has
  /// them.
  static Result<EventFile> create(const std::string& folder, double began, std::string resolved);

  const std::string& path() const override { return path_; }
  /// A line of metrics.jsonl. What it comes to is in the file when this returns.
  Result<void> append(std::string_view line) override;
  Result<void> add(const Json& line);
  Result<void> close() override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  EventFile(std::string path, std::FILE* file, RunEvents events)
      : path_(std::move(path)), file_(file), events_(std::move(events)) {}

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;  ///< without a buffer
  off_t whole_ = 0;                         ///< bytes, to the end of the last whole record
  RunEvents events_;
  std::string needed_;           ///< those records (EventRecords) that are not in it yet
  std::optional<Error> failed_;  ///< why the last records are not in it
};

/// The metrics that the run left, whole, as a file of events in `folder`; its path. Errors:
/// already_exists (the folder has events), those of for_each_metric, io.
Result<std::string> export_events(const std::string& run, const std::string& folder);

}  // namespace sterna::launcher
