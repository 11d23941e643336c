// RunFiles: what a run writes down while it goes on, line by line: its metrics, for TensorBoard
// too where the file asks for that, and its events. No disk holds it up (metrics_file.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/job/job_listener.h"
#include "launcher/record/event_log.h"
#include "launcher/record/metrics_file.h"
#include "launcher/record/run_directory.h"
#include "runtime/base/clock.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

class RunFiles final : public JobListener {
 public:
  using Say = std::function<void(const std::string& line)>;
  /// `say` hears what a disk does not take. `directory` and `clock` outlive it.
  static Result<std::unique_ptr<RunFiles>> open(RunDirectory& directory, const ClusterFile& file,
                                                const Say& say, const Clock& clock,
                                                std::chrono::system_clock::time_point now);

  void changed(const RunRecord& record) override;
  void step(const StepMetrics& metrics) override;
  void loss(const LossMetrics& metrics) override;
  void evaluation(const EvaluationResult& result) override;
  void tensor(const TensorMetrics& metrics) override;
  void histogram(const HistogramMetrics& metrics) override;
  void picture(const PictureMetrics& metrics) override;
  void actor_restarts(const ActorRestart& restart) override;
  void checkpoint_missed(const std::string& line) override;
  void event(const Event& event) override;

  /// The run begins at `step`; `cause`: why not at 0.
  void began(std::int64_t step, const std::string& cause);
  /// In a directory that has a run's lines already: what they say of later steps is done again.
  void begun_again(std::int64_t step, std::chrono::system_clock::time_point now);
  /// The job was lost, and all of it is started again.
  void restarts(const Restart& restart);
  /// Checkpoints that are damaged, for whose sake it goes on from `step`.
  void passed_over(const std::vector<std::string>& lines, std::int64_t step);
  void ended(const RunResult& result);

  /// Waits a while for what is on its way to the disk. The first error of each that was not said.
  Result<void> close_events();
  Result<void> close_metrics();
  /// Lines that metrics.jsonl has not.
  std::uint64_t lost_metrics() const { return metrics_.lost(); }

 private:
  RunFiles(RunDirectory& directory, const Say& say, const Clock& clock);

  MetricsFiles metrics_;
  MetricsFile* for_tensorboard_ = nullptr;  ///< one of them: what only TensorBoard shows
  EventLog events_;
  std::int64_t step_ = 0;  ///< that was shown last
};

}  // namespace sterna::launcher
