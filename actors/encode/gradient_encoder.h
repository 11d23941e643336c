// GradientEncoder: one rank's gradients become packets, under its own scalers or under those that
// all ranks share.
//
// With shared scalers a tensor is held, where the net has left it or in a copy, until its scalers
// are agreed; those that come while the backward pass still runs are used with the next gradient.
// With the last step's scalers nothing is held but at step 0: then one pass over a gradient makes
// its packets and what this rank offers for the next step. This is the policy: what it orders is
// made by an EncodeArithmetic, where the gradients lie.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/encode/encode_arithmetic.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

class GradientEncoder final : private EncodeArithmetic::Listener {
 public:
  /// Called on the thread that encodes.
  struct Events {
    /// Packets of one shard are ready to go; or, with an empty payload and alone, the tensor whose
    /// first chunk it names has its packet on the device.
    std::function<void(std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets)>
        packets;
    /// All ranks' scalers are to be agreed at one shard.
    std::function<void(std::uint64_t step, std::uint32_t shard,
                       std::vector<Offer::OwnScaler> scalers)>
        offers;
  };

  GradientEncoder(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
                  const Clock& clock, Events events, std::unique_ptr<EncodeArithmetic> arithmetic);

  /// Before the first step: as EncodeArithmetic's.
  Result<void> expect(std::span<const EncodeArithmetic::Expected> gradients) {
    return arithmetic_->expect(gradients);
  }
  /// The gradients of `step` follow.
  void begin(std::uint64_t step);
  /// A tensor's gradient is complete, or on its way; it stays as it is until the next begin(), or
  /// where the arithmetic copies what is held until encode_held() returns. Errors: non_finite.
  Result<void> add(std::uint32_t tensor, const nets::Gradient& gradient);
  /// The same as EncodeArithmetic's, of gradients that are added at once.
  void gather() { arithmetic_->gather(); }
  Result<void> launch() { return arithmetic_->launch(); }
  /// Encodes what was held and has its scalers now, and waits for all that is under way. Errors:
  /// non_finite, with the tensor's name, of gradients that were on their way; a device's.
  Result<void> encode_held();
  /// Waits for what is under way alone. Errors: the same.
  Result<void> wait() { return arithmetic_->finish(*this); }
  bool holds() const { return !held_.empty(); }
  /// Sends what was gathered.
  void flush();

  /// What a tensor's gradients came to so far. Not while this encodes.
  struct Counts {
    std::uint64_t steps = 0;
    std::uint64_t bytes = 0;
    std::uint64_t ternarized = 0;  ///< elements, of which ...
    std::uint64_t nonzero = 0;     ///< ... so many trits are not 0
    std::uint64_t measured = 0;    ///< elements under a scaler of the last step, of which ...
    std::uint64_t saturated = 0;   ///< ... so many are larger than it
    Duration encoding{};
  };
  const Counts& counts(std::uint32_t tensor) const { return counts_[tensor]; }

  /// The scalers that all ranks share; from any thread.
  void agree(std::uint64_t step, std::uint32_t index, float value);
  /// What the next step needs of those before; between steps. Of no tensor's residual where there
  /// is none, and no scalers where the step needs none.
  struct State {
    std::vector<std::vector<float>> residuals;  ///< by tensor
    std::vector<float> scalers;                 ///< by the table's index
  };
  /// Errors: a device's.
  Result<State> state() const;
  /// Before the first begin().
  void restore(State state);

  /// Between steps: a packet that did not count. With error feedback it goes with the next one.
  Result<void> give_back(const Packet& packet) { return arithmetic_->give_back(packet); }
  /// The same, before those, of a step that another worker has begun: EncodeArithmetic::settle().
  void settle(std::span<const std::uint32_t> repeated) { arithmetic_->settle(repeated); }

  /// Whether begin(step) needs no scalers that are not there yet; from any thread.
  bool may_begin(std::uint64_t step) const;

 private:
  struct Held {
    std::uint32_t tensor = 0;
    nets::Gradient gradient;
  };
  struct Shared {
    bool known = false;
    std::uint64_t step = 0;
    float value = 0;
  };
  struct Pending {
    std::vector<Packet> packets;
    std::size_t bytes = 0;
  };

  /// What is made of a gradient now.
  EncodeArithmetic::Order order_for(std::uint32_t tensor, const nets::Gradient& gradient) const;
  Result<void> start(const EncodeArithmetic::Order& order);
  Result<void> start_held();
  void packed(std::uint32_t chunk, float scaler, Bytes payload, std::uint64_t nonzero) override;
  void measured(std::uint32_t tensor, const Measured& found) override;
  std::uint64_t step_of_scalers(std::uint64_t step) const;
  /// Nothing where one of them is not agreed yet.
  std::optional<std::vector<float>> agreed(TableScalers range) const;
  void offer(TableScalers range, const std::vector<float>& scalers);
  void gather(Packet packet, std::uint32_t shard);
  void send(std::uint32_t shard);

  JobConfig job_;
  std::shared_ptr<const ParameterTable> table_;
  const Clock& clock_;
  Events events_;
  std::unique_ptr<EncodeArithmetic> arithmetic_;
  std::vector<TableScalers> scalers_;  // by tensor
  std::vector<Pending> pending_;       // by shard
  std::vector<Held> held_;
  std::uint64_t step_ = 0;
  std::vector<Counts> counts_;  // by tensor
  bool goes_on_ = false;        // the first step, too, has scalers of the one before
  mutable std::mutex mutex_;
  std::vector<Shared> shared_;  // by the table's index; guarded by mutex_
};

}  // namespace sterna::actors
