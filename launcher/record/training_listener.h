// TrainingListener: who hears what a run's metrics are made of, while it trains.
#pragma once

#include "launcher/view/result_json.h"

namespace sterna::launcher {

/// Called on the loop's thread; what a call gets is the caller's. Of itself it hears nothing.
class TrainingListener {
 public:
  TrainingListener() = default;
  virtual ~TrainingListener() = default;
  TrainingListener(const TrainingListener&) = delete;
  TrainingListener& operator=(const TrainingListener&) = delete;

  /// All workers have done another step.
  virtual void step(const StepMetrics& /*metrics*/) {}
  /// A step's loss over all ranks, as soon as it is known: not in the order of steps.
  virtual void loss(const LossMetrics& /*metrics*/) {}
  virtual void evaluation(const EvaluationResult& /*result*/) {}
  /// Once for each tensor, at the end of the training.
  virtual void tensor(const TensorMetrics& /*metrics*/) {}
  /// Where the file asks for them (summary.tensorboard).
  virtual void histogram(const HistogramMetrics& /*metrics*/) {}
  virtual void picture(const PictureMetrics& /*metrics*/) {}
};

}  // namespace sterna::launcher
