// The folder that keeps what a run leaves behind:
//
//   resolved.toml        the cluster file with every key explicit
//   labels.txt           what the classes are called, where the data set says so
//   metrics.jsonl        one JSON object per line, while the run goes on
//   events.jsonl         what happened beside training: deaths, restarts, lost connections
//   logs/<actor>.log     each actor's standard output and error
//   logs/<actor>.trace   what it noted of the steps that are traced (docs/trace.md)
//   weights.safetensors  the final parameters
//   confusion.csv        of the last evaluation: how often which class was taken for which
//   checkpoints/         what another run can go on from (actors/checkpoint/saved.h)
//   result.json          how it ended
//   status.json          what was known of it last, as `sterna status --json` has it
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "actors/checkpoint/saved.h"
#include "actors/weights/trained_weights.h"
#include "input/files/folder_lock.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/view/result_json.h"
#include "runtime/base/file.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

constexpr std::string_view kEventsFile = "events.jsonl";
/// In the working directory: the runs that were given no directory of their own.
constexpr std::string_view kRunsFolder = "runs";
constexpr std::string_view kResolvedFile = "resolved.toml";
constexpr std::string_view kConfusionFile = "confusion.csv";
constexpr std::string_view kResultFile = "result.json";
constexpr std::string_view kStatusFile = "status.json";

struct RunDirectoryOptions {
  std::string config;         ///< what the run is called after: cluster.name
  std::string explicit_path;  ///< --run-dir; empty: <parent>/<config>-<UTC time>
  std::string parent = "runs";
  std::chrono::system_clock::time_point now;
  bool goes_on = false;  ///< in explicit_path, which may be there from a run before
  std::uint64_t minimum_free = std::uint64_t{64} << 20;  ///< bytes that must be free at the start
};

/// Since 1970.
inline double in_unix_seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// Tells the run in this directory from every other, wherever that is moved: what it was called,
/// and when it began, by the first line of its metrics. None: it has not begun.
std::optional<std::string> run_identity(const std::string& run_dir);

class RunDirectory {
 public:
  /// Makes the folder, checks the disk's free space, and writes the first line of metrics.jsonl.
  /// An explicit path that exists is already_exists; a name of our own gets "-2", "-3", … instead.
  /// One whose name no run can be remembered by (is_run_id()) is invalid_argument.
  /// One in which another process goes on is already_exists, too. Nothing is left behind on an
  /// error.
  static Result<RunDirectory> create(const RunDirectoryOptions& options);
  /// What create() would refuse, as far as that is seen without making anything: for who has
  /// something to do before that takes long.
  static Result<void> check(const RunDirectoryOptions& options);

  /// As it was given, without a last slash.
  const std::string& path() const { return path_; }
  /// run_identity() of it.
  const std::string& identity() const { return identity_; }
  std::string resolved_path() const { return path_ + "/" + std::string(kResolvedFile); }
  std::string labels_path() const { return path_ + "/labels.txt"; }
  std::string metrics_path() const { return path_ + "/metrics.jsonl"; }
  std::string weights_path() const { return path_ + "/" + actors::kWeightsFile; }
  std::string confusion_path() const { return path_ + "/" + std::string(kConfusionFile); }
  std::string result_path() const { return path_ + "/" + std::string(kResultFile); }
  std::string status_path() const { return path_ + "/" + std::string(kStatusFile); }
  std::string checkpoints_path() const { return path_ + "/" + actors::kCheckpointFolder; }
  std::string logs_path() const { return path_ + "/logs"; }

  Result<void> write_resolved(const ClusterFile& file);
  /// Whether it is new; else it was there from a run before.
  bool made() const { return made_; }
  /// metrics.jsonl, behind its first line. Once.
  LineFile take_metrics() { return std::move(metrics_); }
  /// events.jsonl. Once.
  LineFile take_events() { return std::move(events_); }
  /// Writes result.json whole or not at all.
  Result<void> write_result(const RunResult& result);
  /// Whether the run that this one goes on with has written its own.
  bool has_result() const;
  /// Removes what that one wrote of its end: it has not ended any more.
  void forget_result() const;
  Result<void> write_status(const RunStatus& status);
  /// Removes the folder with all that is in it: of a run that never was. What was there before
  /// stays.
  void discard();

 private:
  RunDirectory(std::string path, std::string identity, input::FolderLock lock, LineFile metrics,
               LineFile events, bool made)
      : path_(std::move(path)),
        identity_(std::move(identity)),
        lock_(std::move(lock)),
        metrics_(std::move(metrics)),
        events_(std::move(events)),
        made_(made) {}

  std::string path_;
  std::string identity_;
  input::FolderLock lock_;
  LineFile metrics_;
  LineFile events_;
  bool made_;  // else it was there before
};

}  // namespace sterna::launcher
