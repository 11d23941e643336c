// RankNet: one rank's computing. Its turns on a replica, whose gradients it encodes the moment they
// are complete, or adds to the average that travels in place of them.
//
// The passes run on a compute thread, and no two ranks of a replica are in theirs at a time. What
// is encoded of a gradient after its turn (scalers that all ranks share come later) was copied.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/encode/device_watch.h"
#include "actors/encode/gradient_clip.h"
#include "actors/encode/gradient_encoder.h"
#include "actors/encode/host_arithmetic.h"
#include "actors/encode/host_average.h"
#include "actors/encode/residuals.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "actors/schemes/scheme.h"
#include "actors/worker/ranks/replica.h"
#include "actors/worker/ranks/tensor_watch.h"
#include "actors/worker/worker_trace.h"
#include "nets/net.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

/// What encodes the gradients of a rank where `replica` has them. `copies`: what is kept is copied.
/// Errors: the device's.
Result<std::unique_ptr<EncodeArithmetic>> arithmetic_for(
    const JobConfig& job, std::uint32_t rank, const Replica& replica,
    const std::shared_ptr<const ParameterTable>& table, bool copies, Residuals residuals,
    HostArithmetic::Sent sent = nullptr);

/// The average of job.averaged_ranks ranks, which `rank`, its first, pushes: `replica` is that
/// rank's, and on the first of the devices that replicas are on, if on any. Errors: the devices'.
Result<std::shared_ptr<HostAverage>> average_for(
    const JobConfig& job, std::uint32_t rank, const Replica& replica,
    const std::vector<std::shared_ptr<kernels::Device>>& devices,
    const std::shared_ptr<const ParameterTable>& table, const Clock& clock,
    GradientEncoder::Events events, Residuals residuals);

class RankNet final : private nets::GradientSink {
 public:
  /// On a device: waits for what still reads its gradients.
  ~RankNet() override;
  /// `rank`'s, on `replica`, of which it is the only user unless `shares`; `residuals` as the
  /// encoder's. Errors: those of the scheme's local steps.
  static Result<std::shared_ptr<RankNet>> make(const JobConfig& job, std::uint32_t rank,
                                               std::shared_ptr<Replica> replica, bool shares,
                                               std::shared_ptr<const ParameterTable> table,
                                               const Clock& clock, GradientEncoder::Events events,
                                               Residuals residuals = {});
  /// The same of one whose gradients go into `average`, which lies where the replica does.
  static Result<std::shared_ptr<RankNet>> make_averaged(const JobConfig& job, std::uint32_t rank,
                                                        std::shared_ptr<Replica> replica,
                                                        std::shared_ptr<const ParameterTable> table,
                                                        std::shared_ptr<HostAverage> average);

  /// Before the first pass.
  void set_trace(const std::shared_ptr<Tracer>& tracer);
  /// As Replica::stage() and forward(). Errors name rank and step.
  Result<void> stage(std::uint64_t step, const Batch& batch) {
    return replica_->stage(step, rank_, batch).in(where(step));
  }
  Result<bool> forward(std::uint64_t step, const Batch& batch, std::uint32_t readable);
  /// The backward pass, once forward() is complete; its gradients go to the encoder's events, those
  /// that wait for shared scalers by encode_held(); or into the average, which has begun. Where the
  /// scheme has local steps, they are made then. The loss, weight decay included. Errors name rank
  /// and step, and the tensor where there is one: non_finite for a loss or a gradient.
  Result<nets::Net::Loss> backward(const RankStep& step);

  /// On a compute thread, after backward(): encodes what has its scalers now. Errors: as the
  /// encoder's.
  Result<void> encode_held();
  /// Of all tensors together; between steps.
  GradientEncoder::Counts counts() const;
  /// Adds what each tensor's gradients came to so far; between steps.
  void add_to(std::vector<TensorTotals>& totals) const;
  /// On whichever thread encodes: what was sent of its gradients, or of the average.
  void sent(std::span<const Packet> packets);
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
  void settle(std::span<const std::uint32_t> repeated) { encoder_->settle(repeated); }

  /// After encode_held(), where nothing is held: what the step looked like, of a rank and a step of
  /// which that is told (SummarySection).
  std::optional<Watched> take_watched();

  /// What the next step needs of those before, besides parameters; between steps. Errors: a
  /// device's.
  Result<GradientEncoder::State> state() const { return encoder_->state(); }
  void restore(GradientEncoder::State state) { encoder_->restore(std::move(state)); }
  /// Where it has steps of its own: LocalSteps::kept().
  /// Errors: a device's.
  Result<std::vector<KeptArray>> kept();
  /// Before anything has come: that is a checkpoint's now; without `place`, where an elastic rank
  /// is, its slots alone are.
  Result<void> restored(bool place);

  /// From any thread: false once the backward pass of the current step has ended.
  bool computing() const { return computing_.load(std::memory_order_acquire); }
  /// What came, as far as it goes into the rank's own steps; null: it replaces what the replica
  /// has.
  LocalSteps* local_steps() { return local_.get(); }

 private:
  RankNet(const JobConfig& job, std::uint32_t rank, std::shared_ptr<Replica> replica,
          std::shared_ptr<const ParameterTable> table);
  Result<void> make_clip();
  /// On a device: what it takes to look at its numbers. Errors: the device's.
  Result<void> make_watch();
  Result<void> watch_gradient(std::uint32_t tensor, const nets::Gradient& gradient);
  /// The same of its packet, which stays on the device.
  Result<void> watch_packet(std::uint32_t tensor, Codec codec);
  /// Tells the encoder where gradients on a device will lie. Errors: the device's.
  Result<void> expect_gradients();
  void gradient(std::size_t index, const nets::Gradient& gradient) override;
  std::string where(std::uint64_t step) const;
  /// ", after a loss of 8.7e+05 at step 41": of what it had before it diverged; "" of its first
  /// loss.
  std::string after_last_loss() const;
  void encode(std::uint32_t tensor, const nets::Gradient& gradient);
  /// The gradients that were kept until no pass reads the parameters any more. Errors: a device's.
  Result<void> take_kept();
  /// What they are to be multiplied by, if they are longer than they may be.
  Result<std::optional<float>> clip_factor();
  /// Whether the scheme has steps of the rank's own, here or on its device.
  bool steps_alone() const { return local_ != nullptr || replica_->alone() != nullptr; }
  bool keeps_gradients() const { return job_.gradient.clip_norm > 0 || steps_alone(); }
  /// What is to be pushed of a gradient, once its own step is on its way.
  Result<nets::Gradient> step_alone(std::uint32_t tensor, const nets::Gradient& gradient);

  JobConfig job_;
  std::uint32_t rank_;
  std::shared_ptr<Replica> replica_;
  std::shared_ptr<const ParameterTable> table_;
  std::unique_ptr<GradientClip> clip_;        // null: they are as long as they are; outlives those
                                              // that its gradients go to
  std::shared_ptr<HostAverage> average_;      // where others' gradients travel with its own
  std::shared_ptr<GradientEncoder> encoder_;  // its own, or the average's
  std::unique_ptr<LocalSteps> local_;         // where the scheme has some, on a CPU
  std::optional<TensorWatch> watch_;          // of rank 0, where somebody looks
  std::unique_ptr<DeviceWatch> watch_there_;  // likewise, on a device
  std::mutex watching_;                       // of an average another rank's thread sends
  /// Gradients that wait for the end of the passes, by tensor.
  std::vector<nets::Gradient> kept_;
  std::optional<Error> error_;
  struct FiniteLoss {
    std::uint64_t step = 0;
    double loss = 0;
  };
  std::optional<FiniteLoss> last_loss_;  // weight decay included
  std::optional<ComputeTrace> trace_;
  std::atomic<bool> computing_{false};
};

}  // namespace sterna::actors
