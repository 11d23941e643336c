// GradientEncoder: one rank's gradients become packets, under its own scalers or under those that
// all ranks share.
//
// With shared scalers a tensor is held, where the net has left it or in a copy, until its scalers
// are agreed; those that come while the backward pass still runs are used with the next gradient.
// With the last step's scalers nothing is held but at step 0: then one pass over a gradient makes
// its packets and what this rank offers for the next step. A bucket's own scaler is found and used
// while the bucket is in the cache.
//
// With error feedback, what a lossy codec leaves of a gradient is kept (residuals.h) and added to
// the next one (Seide et al. 2014).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/codecs/codec.h"
#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "actors/worker/residuals.h"
#include "kernels/isa/isa.h"
#include "kernels/trits/ternary.h"
#include "runtime/base/clock.h"

namespace sterna::actors {

class GradientEncoder {
 public:
  /// Called on the thread that encodes.
  struct Events {
    /// Packets of one shard are ready to go.
    std::function<void(std::uint64_t step, std::uint32_t shard, std::vector<Packet> packets)>
        packets;
    /// All ranks' scalers are to be agreed at one shard.
    std::function<void(std::uint64_t step, std::uint32_t shard,
                       std::vector<Offer::OwnScaler> scalers)>
        offers;
    /// Where it is set: a chunk's packet is on its way, and is this much when it arrives.
    std::function<void(const TableChunk& place, std::span<const float> decoded)> sent = nullptr;
  };

  /// `copies`: what is held is copied, because the net that it comes from goes on with another
  /// rank's step. `residuals`: what the first step adds; empty: of memory of the encoder's own,
  /// zero.
  GradientEncoder(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                  std::shared_ptr<const ParameterTable> table, const Clock& clock, Events events,
                  bool copies = false, Residuals residuals = {});

  /// The gradients of `step` follow.
  void begin(std::uint64_t step);
  /// A tensor's gradient is complete; `values` stay as they are until the next begin(), or where
  /// what is held is copied until this returns. Errors:
  /// non_finite.
  Result<void> add(std::uint32_t tensor, std::span<const float> values);
  /// Encodes what was held and has its scalers now.
  void encode_held();
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
  State state() const;
  /// Before the first begin().
  void restore(State state);

  /// Between steps: a packet that did not count. With error feedback it goes with the next one.
  Result<void> give_back(const Packet& packet);

  /// Whether begin(step) needs no scalers that are not there yet; from any thread.
  bool may_begin(std::uint64_t step) const;

 private:
  struct Held {
    std::uint32_t tensor = 0;
    std::span<const float> values;  // of `copy`, where there is one
    std::vector<float> copy = {};
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
  /// The scalers of a tensor, [first, last) of the table's.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  Result<void> encode_or_hold(std::uint32_t tensor, std::span<const float> values);
  std::uint64_t step_of_scalers(std::uint64_t step) const;
  /// Empty where one of them is not agreed yet.
  std::vector<float> agreed(Range range) const;
  Result<std::vector<float>> own_scalers(std::uint32_t tensor, std::span<const float> values) const;
  void offer(Range range, const std::vector<float>& scalers);
  struct Filled {
    float scaler = 1;
    std::size_t bytes = 0;
  };
  /// Fills the front of `out` with a chunk's payload.
  using Fill = std::function<Result<Filled>(const GradientCodec& codec, const TableChunk& chunk,
                                            MutableBytes out)>;
  /// Makes a chunk's planes; the result is their scaler.
  using MakePlanes = std::function<Result<float>(MutableBytes planes)>;
  Result<Filled> fill_planes(const GradientCodec& codec, std::size_t count, MutableBytes out,
                             const MakePlanes& make);
  /// Also in a step that travels as fp32: what is left of those before goes with it.
  bool feeds_back(std::uint32_t tensor) const { return residuals_.has(tensor); }
  std::span<const float> with_residual(std::uint32_t tensor, std::span<const float> values);
  void decode(const TableChunk& chunk, const kernels::Packet& packet);
  void keep_residual(const TableChunk& chunk);
  /// Packets of a tensor's chunks, in their order, each on its way before the next is filled.
  Result<void> pack(std::uint32_t tensor, const Fill& fill);
  Result<void> copy(std::uint32_t tensor, std::span<const float> values);
  void encode(std::uint32_t tensor, std::span<const float> values,
              const std::vector<float>& scalers);
  Result<void> encode_buckets(std::uint32_t tensor, std::span<const float> values);
  /// With the last step's scalers; the result is this rank's own of this step.
  Result<std::vector<float>> encode_and_measure(std::uint32_t tensor, std::span<const float> values,
                                                const std::vector<float>& scalers);
  kernels::TernaryDraw draw(std::uint32_t tensor) const;
  float clip() const { return static_cast<float>(job_.gradient.clip); }
  PackChoices choices() const { return {job_.gradient.bits, job_.gradient.density}; }
  void gather(Packet packet, std::uint32_t shard);
  void send(std::uint32_t shard);

  JobConfig job_;
  std::uint32_t rank_;
  kernels::Isa isa_;
  std::shared_ptr<const ParameterTable> table_;
  const Clock& clock_;
  Events events_;
  bool copies_;
  BufferPool pool_;
  std::vector<Range> scalers_;    // by tensor
  std::vector<Pending> pending_;  // by shard
  std::vector<Held> held_;
  std::uint64_t step_ = 0;
  std::vector<std::byte> planes_;  // of one chunk, before they are sealed
  Residuals residuals_;
  std::vector<float> decoded_;  // of one chunk
  std::vector<Counts> counts_;  // by tensor
  bool goes_on_ = false;        // the first step, too, has scalers of the one before
  mutable std::mutex mutex_;
  std::vector<Shared> shared_;  // by the table's index; guarded by mutex_
};

}  // namespace sterna::actors
