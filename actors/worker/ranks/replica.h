// Replica: a net with a version of the job's parameters, on which ranks take turns.
//
// Where all ranks have the same parameters there are no more replicas than cores, however many
// ranks a worker has: a rank's turn is a forward and a backward pass. Nothing of a later version
// can come before the last rank has had its turn, since it is made of that rank's gradients too.
//
// In a backward pass the loop thread may already receive the next version of the last layers'
// parameters: settled() says which tensors the pass no longer reads, and those may be written at
// once, beside the backward pass of the earlier layers. Where averages come in place of parameters,
// the optimizer steps here, as at the servers (TernGrad's "parameter localization", Wen et al.
// 2017, section 3.1).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "actors/parameters/update_rule.h"
#include "actors/schemes/device_local_steps.h"
#include "actors/schemes/scheme.h"
#include "actors/server/shard.h"
#include "actors/worker/ranks/device_steps.h"
#include "actors/worker/ranks/exchanged_steps.h"
#include "kernels/isa/isa.h"
#include "nets/net.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

class Replica final : private nets::GradientSink {
 public:
  /// The job's net. Its table is the first thing a worker needs, so the parameter table comes
  /// later: set_table() before the first pass. Errors: those of nets::make_net() and UpdateRule.
  /// `device`: what computes; null: the CPU. Errors of the device, too.
  static Result<std::shared_ptr<Replica>> make(const JobConfig& job,
                                               std::shared_ptr<kernels::Device> device = nullptr);
  /// Null: the CPU.
  const std::shared_ptr<kernels::Device>& device() const { return device_; }
  kernels::Isa isa() const { return isa_; }
  const std::vector<nets::ParameterSpec>& parameters() const { return net_->parameters(); }
  /// On a device: what computes there; on the CPU nothing.
  DevicePlans computed_by() const;
  /// Of one image with its levels, as it travels.
  std::size_t image_bytes() const;
  /// `settled`: called on the compute thread when settled() has changed.
  void set_table(std::shared_ptr<const ParameterTable> table, const Clock& clock,
                 std::function<void()> settled);

  /// On a device: makes what steps from averages take, where such come: after set_table(). Errors:
  /// the device's.
  Result<void> plan_steps();
  /// On a device, which is number `number` of those among which gradients are exchanged: after
  /// set_table(). Errors: the device's.
  Result<void> exchange(std::uint32_t number, std::uint32_t devices);
  /// Null where they are not.
  ExchangedSteps* exchanged() const { return exchanged_.get(); }
  /// On a device, of which one rank alone steps by itself, as its scheme says: after set_table().
  /// Errors: as Scheme::device_steps.
  Result<void> step_alone(std::uint32_t rank, const Scheme& scheme);
  /// Null where none does.
  DeviceLocalSteps* alone() const { return alone_.get(); }
  /// A chunk's parameters to the host, which waits for them; only between turns, or before the
  /// tensor is settled. Errors: the device's.
  Result<void> read(const TableChunk& chunk, std::span<float> out) {
    return net_->read_parameter(chunk.tensor, chunk.first, out);
  }
  /// Where a tensor's gradient will lie in each step.
  std::span<const float> gradient_place(std::uint32_t tensor) const {
    return net_->gradient_place(tensor);
  }
  /// That rank's own step, and what else DeviceLocalSteps do to its net.
  Result<nets::Gradient> step_alone(std::uint32_t tensor, const nets::Gradient& gradient) {
    return alone_->gradient(*net_, tensor, gradient);
  }
  Result<void> sent_alone(const TableChunk& place, std::span<const float> decoded) {
    return alone_->sent(*net_, place, decoded);
  }
  /// Waits until all that is done.
  Result<void> finish_alone() {
    return net_->update_parameter(
        0, [](kernels::DeviceStream& stream, float*) { return stream.finish(); });
  }
  Result<std::vector<KeptArray>> kept_alone() { return alone_->kept(*net_); }
  Result<void> restored_alone(bool place) { return alone_->restored(*net_, place); }
  /// Puts the step of a tensor from version `step` on its way; as take(), once all that is to be
  /// gathered of it is on the stream of exchanged().
  void step(std::uint32_t tensor, std::uint64_t step);
  /// Before the first step: the moving averages of all chunks, where exchanged() keeps any. Errors:
  /// the device's.
  Result<void> begin_averages(const std::vector<std::shared_ptr<const Buffer>>& averages);
  /// All exchanged parameters as the steps that are on their way leave them, their moving averages,
  /// if any, and their slots where they are to be kept. Beside a forward pass, but to no step.
  /// Errors: the device's.
  Result<std::vector<Shard::Made>> made(bool keeps);

  /// Whether the images of a turn can come here while the one before goes on: stage().
  bool stages() const { return device_ != nullptr && net_->stages(); }
  /// Puts those of the next turn, which is that rank's in that step, on their way beside this one,
  /// whose forward() has been called; on any thread. Errors: as forward() has them.
  Result<void> stage(std::uint64_t step, std::uint32_t rank, const Batch& batch);
  /// The forward pass of a rank's turn in a step, as far as the first `readable` tensors take it:
  /// they have the step's version, others may be written meanwhile. The batch is read in the first
  /// call. Returns whether the pass is complete. Errors: invalid_argument for a batch of another
  /// shape.
  Result<bool> forward(std::uint64_t step, std::uint32_t rank, const Batch& batch,
                       std::uint32_t readable);
  /// The backward pass of that turn, once forward() is complete; on a device it is on its way then.
  /// Statistics and gradients of what is trained go to `sink`, and stay as they are until the next
  /// turn begins.
  Result<void> backward(nets::GradientSink& sink);
  /// After it: the loss as it is, for which it waits.
  Result<nets::Net::Loss> loss() { return net_->step_loss(); }

  /// Between turns: who hears of the next turn's activations, until backward() ends.
  void watch_activations(nets::Net::ActivationWatcher watcher) {
    net_->watch_activations(std::move(watcher));
  }

  /// From any thread: tensors from this index on are not read again in this turn.
  std::uint32_t settled() const { return settled_.load(std::memory_order_acquire); }
  /// Of the whole tensor, in the host's memory; only between turns, or where it is settled.
  std::span<float> values(std::uint32_t tensor) { return net_->parameter(tensor); }
  std::span<float> values(const TableChunk& chunk);
  /// Makes the next version of one chunk of an opened answer, where `local` has its say; only
  /// between turns, or where the tensor is settled. What fails of it on a device is the error of
  /// the next forward().
  void take(const Parameters& answer, std::size_t index, LocalSteps* local = nullptr);
  /// Counts what came down of a chunk, before it was opened.
  void count_down(std::uint32_t chunk, std::uint64_t bytes);
  /// What came so far, and how long it took from the end of a gradient on; between turns.
  void add_to(std::vector<TensorTotals>& totals) const;
  /// The optimizer's slots of a chunk in the host's memory, as they are before the first average
  /// comes; where averages come.
  std::vector<std::span<float>> slots(std::uint32_t chunk);
  /// Of all chunks the slots are those that were written there, before any average comes. Errors:
  /// the device's.
  Result<void> slots_restored();
  /// Where gradients are exchanged, before the first step: as UpdateRule's.
  void begin_slots_at(std::uint64_t step) {
    if (exchanged_ != nullptr) exchanged_->begin_slots_at(step);
  }
  /// Of all chunks' parameters; between turns. Errors: the device's.
  Result<std::vector<Hash>> hashes();

 private:
  Replica(const JobConfig& job, kernels::Isa isa, UpdateRule rule,
          std::shared_ptr<kernels::Device> device, std::unique_ptr<nets::Net> net)
      : job_(job), isa_(isa), device_(std::move(device)), net_(std::move(net)), rule_(rule) {}
  void gradient(std::size_t index, const nets::Gradient& gradient) override;
  void apply(const Parameters& answer, std::size_t index, LocalSteps* local);
  void count_step(std::uint32_t tensor, Time began, std::uint32_t chunks);
  Result<void> apply_there(const Parameters& answer, std::size_t index);

  /// Of one tensor. `completed` is the computing thread's until the turn's packets have left it.
  struct Down {
    Time completed;             // its gradient of the last step
    std::uint32_t missing = 0;  // chunks of its next version
    std::uint64_t exchanges = 0;
    std::uint64_t bytes = 0;
    Duration decoding{};
    Duration exchanging{};
  };

  JobConfig job_;
  kernels::Isa isa_;
  std::shared_ptr<kernels::Device> device_;  // outlives the net
  std::unique_ptr<DeviceSteps> steps_;       // null: no averages come to a device; outlives the net
  std::unique_ptr<ExchangedSteps> exchanged_;  // likewise
  std::unique_ptr<DeviceLocalSteps> alone_;    // likewise
  std::unique_ptr<nets::Net> net_;
  std::mutex mutex_;
  std::optional<Error> failed_;  // why a chunk's next version did not come; guarded by mutex_
  UpdateRule rule_;
  /// Of the optimizer, by chunk, from the first average on.
  std::vector<std::vector<std::shared_ptr<Buffer>>> slots_;
  std::shared_ptr<const ParameterTable> table_;
  const Clock* clock_ = nullptr;
  std::function<void()> on_settled_;
  std::vector<Down> down_;
  std::vector<float> came_;  // of one chunk, for local steps
  /// Step and rank whose forward pass has begun last.
  std::optional<std::pair<std::uint64_t, std::uint32_t>> begun_;
  /// Whose images were staged last.
  std::optional<std::pair<std::uint64_t, std::uint32_t>> staged_;
  std::optional<std::uint64_t> first_step_;  // that it began
  std::uint32_t readable_ = 0;               // tensors of its version that the net knows of
  std::uint32_t lowest_ = 0;            // the lowest tensor whose gradient is complete in this turn
  nets::GradientSink* sink_ = nullptr;  // of this turn
  std::atomic<std::uint32_t> settled_{0};
};

}  // namespace sterna::actors
