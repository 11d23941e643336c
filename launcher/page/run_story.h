// RunStory: what a run's metrics.jsonl tells, as a page draws it: curves of bounded length, the
// evaluations, the tensors. Pure: lines go in, JSON comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "launcher/page/loss_band.h"
#include "launcher/text/json_line.h"

namespace sterna::launcher {

class RunStory {
 public:
  static constexpr std::size_t kMostSteps = 512;
  static constexpr std::size_t kMostEvaluations = 1024;
  static constexpr std::size_t kMostTensors = 1000;

  /// A line of metrics.jsonl. Of a kind that is not known nothing is kept.
  void take(const Json& line);

  /// {"loss": [[step, low, mean, high, decay]…], "steps": [[step, seconds, bytes, learning_rate,
  /// examples_per_second, bits_up, bits_down, nonzero, saturated, data_wait]…], "evaluations",
  /// "tensors", "lost", "begins"}. `seconds` and `bytes` (both ways) go on over restarts, and are
  /// counted from the step `begins` on, which of a run that goes on from a checkpoint is not 0.
  /// Numbers that nobody knows are null.
  Json all() const;
  /// The same of what came since the last call, or since the beginning; nothing: nothing did.
  std::optional<Json> news();
  /// Whether what was told before does not hold any more, as after a restart; once.
  bool begins_anew();

 private:
  struct Step {
    std::int64_t step = 0;
    double seconds = 0;
    double bytes = 0;
    Json facts;  ///< the rest
  };
  struct Evaluation {
    std::int64_t step = 0;
    std::string whose;       ///< subset and kind
    std::size_t number = 0;  ///< of its subset and kind
    Json facts;
  };
  void take_step(std::int64_t step, const Json& line);
  void take_evaluation(std::int64_t step, const Json& line);
  void drop_evaluation(std::size_t index);
  void thin_evaluations();
  void restart(std::int64_t step);
  void note_begin(std::int64_t step, const std::string& kind, const Json& line);
  /// Of a step between those that are known, in proportion; before the first from 0 where it
  /// begins.
  double at(std::int64_t step, double Step::*what) const;
  Json told(const Step& step) const;
  Json told(const Evaluation& one) const;

  LossBand losses_;
  std::vector<Step> steps_;  ///< every stride_-th line, and the last
  std::size_t stride_ = 1;
  std::size_t since_ = 0;     ///< lines since the last that stays
  std::deque<Step> recent_;   ///< the last lines, each
  std::vector<Step> untold_;  ///< of steps_
  /// Of each subset and kind every evaluation_stride_-th, and the last.
  std::vector<Evaluation> evaluations_;
  std::size_t evaluation_stride_ = 1;
  std::size_t evaluations_told_ = 0;
  std::vector<Json> tensors_;
  std::size_t tensors_told_ = 0;
  double lost_ = 0;
  double lost_told_ = 0;
  std::optional<std::int64_t> begins_;
  std::int64_t begins_told_ = 0;
  double seconds_before_ = 0;  ///< what the attempts before came to
  double bytes_before_ = 0;
  bool anew_ = false;
};

}  // namespace sterna::launcher
