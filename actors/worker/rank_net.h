// RankNet: one rank's computing. A net whose gradients are encoded the moment they are complete.
//
// The passes run on a compute thread. The forward pass begins with the first tensors that have
// come. In the backward pass the loop thread may already receive the next version of the last
// layers' parameters: settled() says which tensors this step no longer reads, and those may be
// written at once, beside the backward pass of the earlier layers. Where averages come in place of
// parameters, the optimizer steps here, as at the servers (TernGrad's "parameter localization", Wen
// et al. 2017, section 3.1).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "actors/parameters/update_rule.h"
#include "actors/schemes/scheme.h"
#include "actors/worker/gradient_encoder.h"
#include "kernels/isa/isa.h"
#include "nets/net.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

class RankNet final : private nets::GradientSink {
 public:
  /// What happens during a step, called on the compute thread.
  struct Events {
    GradientEncoder::Events encoder;
    /// settled() has changed.
    std::function<void()> settled;
  };

  /// The job's net for `rank`. The net's table is the first thing a worker needs, so the parameter
  /// table comes later: set_table() before the first step().
  static Result<std::shared_ptr<RankNet>> make(const JobConfig& job, std::uint32_t rank);
  kernels::Isa isa() const { return isa_; }
  const std::vector<nets::ParameterSpec>& parameters() const { return net_->parameters(); }
  /// Of one image with its levels, as it travels.
  std::size_t image_bytes() const;
  Result<void> set_table(std::shared_ptr<const ParameterTable> table, const Clock& clock,
                         Events events);

  /// The forward pass of a step, as far as the first `readable` tensors take it: they have the
  /// step's version, others may be written meanwhile. The batch is read in the first call. Returns
  /// whether the pass is complete. Errors name rank and step: invalid_argument for a batch of
  /// another shape.
  Result<bool> forward(std::uint64_t step, const Batch& batch, std::uint32_t readable);
  /// The backward pass, once forward() is complete; its gradients go to Events::encoder, those that
  /// wait for shared scalers by encode_held(). Where the scheme has local steps, they are made
  /// then. The loss, weight decay included. Errors name rank and step, and the tensor where there
  /// is one: non_finite for a loss or a gradient.
  Result<double> backward(const RankStep& step);

  /// On a compute thread, after backward(): encodes what has its scalers now.
  void encode_held();
  /// Of all tensors together; between steps.
  GradientEncoder::Counts counts() const;
  /// What each tensor's gradients came to so far; between steps.
  std::vector<TensorTotals> totals() const;
  /// Between the two: whether some gradient waits for its scalers.
  bool holds() const { return encoder_->holds(); }
  /// The scalers that all ranks share; from any thread.
  void agree(std::uint64_t step, std::uint32_t index, float value) {
    encoder_->agree(step, index, value);
  }
  /// Whether all scalers are there that a step with this push begins with; from any thread.
  bool may_begin(std::uint64_t push) const { return encoder_->may_begin(push); }
  /// Between steps: a packet of this rank did not count.
  Result<void> give_back(const Packet& packet) { return encoder_->give_back(packet); }

  /// What the next step needs of those before, besides parameters; between steps.
  GradientEncoder::State state() const { return encoder_->state(); }
  void restore(GradientEncoder::State state) { encoder_->restore(std::move(state)); }
  /// The optimizer's slots of a chunk, as they are before the first average comes; where averages
  /// come.
  std::vector<std::span<float>> slots(std::uint32_t chunk);

  /// From any thread: tensors from this index on are not read again in this step.
  std::uint32_t settled() const { return settled_.load(std::memory_order_acquire); }
  /// From any thread: false once the backward pass of the current step has ended.
  bool computing() const { return computing_.load(std::memory_order_acquire); }
  /// Makes the next version of one chunk of an opened answer; only between
  /// steps, or where the tensor is settled.
  void take(const Parameters& answer, std::size_t index);
  /// Counts what came down of a chunk, before it was opened.
  void count_down(std::uint32_t chunk, std::uint64_t bytes);
  /// Of all chunks' parameters; between steps.
  std::vector<Hash> hashes();

 private:
  RankNet(const JobConfig& job, std::uint32_t rank, kernels::Isa isa, UpdateRule rule,
          std::unique_ptr<nets::Net> net)
      : job_(job), rank_(rank), isa_(isa), net_(std::move(net)), rule_(rule) {}
  void gradient(std::size_t index, std::span<const float> values) override;
  std::string where(std::uint64_t step) const;
  std::span<float> values_of(const TableChunk& chunk);
  void encode(std::uint32_t tensor, std::span<const float> values);
  /// The gradients that were kept until no pass reads the parameters any more.
  void take_kept();
  bool keeps_gradients() const { return job_.gradient.clip_norm > 0 || local_ != nullptr; }
  void apply(const Parameters& answer, std::size_t index);

  JobConfig job_;
  std::uint32_t rank_;
  kernels::Isa isa_;
  std::unique_ptr<nets::Net> net_;
  UpdateRule rule_;
  /// Of the optimizer, by chunk, from the first average on.
  std::vector<std::vector<std::shared_ptr<Buffer>>> slots_;
  std::shared_ptr<const ParameterTable> table_;
  std::function<void()> on_settled_;
  std::optional<GradientEncoder> encoder_;
  /// Of one tensor. `completed` is the encoding thread's until the step's packets have left it.
  struct Down {
    Time completed;             // its gradient of the last step
    std::uint32_t missing = 0;  // chunks of its next version
    std::uint64_t exchanges = 0;
    std::uint64_t bytes = 0;
    Duration decoding{};
    Duration exchanging{};
  };
  const Clock* clock_ = nullptr;
  std::vector<Down> down_;
  std::unique_ptr<LocalSteps> local_;  // where the scheme has some
  /// Gradients that wait for the end of the passes, by tensor, and the same once scaled down.
  std::vector<std::span<const float>> kept_;
  std::vector<std::vector<float>> clipped_;
  std::vector<float> came_;             // of one chunk, for the local steps
  std::optional<std::uint64_t> begun_;  // the step whose forward pass has begun last
  std::uint32_t readable_ = 0;          // tensors of its version that the net knows of
  std::uint32_t lowest_ = 0;            // the lowest tensor whose gradient is complete in this step
  std::optional<Error> error_;
  std::atomic<std::uint32_t> settled_{0};
  std::atomic<bool> computing_{false};
};

}  // namespace sterna::actors
