// TensorWatch: what a rank's step looked like, of the steps of which that is told: some pictures
// and what the net took them for, and how its numbers are distributed: weights, gradients, what the
// servers make of what was sent of those, activations. In all other steps it costs a comparison.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/job/job.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "kernels/isa/isa.h"
#include "kernels/numbers/histogram.h"
#include "kernels/sums/aggregate.h"

namespace sterna::actors {

/// Used by one thread at a time, that which computes or encodes.
class TensorWatch {
 public:
  TensorWatch(const JobConfig& job, std::shared_ptr<const ParameterTable> table, kernels::Isa isa);

  /// The rank computes this step. Whether it has just begun, and is told of.
  bool begin(std::uint64_t step, const Batch& batch);
  /// Whether the step is told of, and of it this tensor.
  bool watches(std::uint32_t tensor) const {
    return watching_ && table_->tensors[tensor].spec.role != nets::Role::statistic;
  }
  /// Of what is not told of, these do nothing.
  void activation(const std::string& layer, std::span<const float> values);
  /// A tensor, or a part of it.
  void gradient(std::uint32_t tensor, std::span<const float> values,
                std::span<const float> weights);
  void sent(std::span<const Packet> packets);
  /// An opened one.
  void sent(const TableChunk& chunk, const kernels::Packet& packet);

  /// Of the step that has ended, once.
  std::optional<Watched> take();

 private:
  struct Of {
    std::string tensor;
    HistogramOf of;
    auto operator<=>(const Of&) const = default;
  };

  void predict(std::span<const float> logits);

  JobConfig job_;
  std::shared_ptr<const ParameterTable> table_;
  std::string logits_layer_;
  std::size_t classes_ = 0;
  kernels::Isa isa_;
  BufferPool pool_;
  std::optional<std::uint64_t> begun_;  // the step that was begun last
  bool watching_ = false;               // it is told of
  std::map<Of, kernels::Histogram> histograms_;
  std::vector<WatchedPicture> pictures_;
  bool predicted_ = false;
  std::vector<float> decoded_;  // of one chunk
};

}  // namespace sterna::actors
