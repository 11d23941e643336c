// The arithmetic of gradients in the host's memory: all is done, and told, when a call returns.
//
// A bucket's own scaler is found and used while the bucket is in the cache. With error feedback,
// what a lossy codec leaves of a gradient is kept (residuals.h) and added to the next one (Seide et
// al. 2014).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "actors/codecs/codec.h"
#include "actors/encode/encode_arithmetic.h"
#include "actors/encode/residuals.h"
#include "actors/parameters/parameter_table.h"
#include "kernels/isa/isa.h"
#include "kernels/trits/ternary.h"

namespace sterna::actors {

class HostArithmetic final : public EncodeArithmetic {
 public:
  /// A chunk's packet is on its way, and is this much when it arrives.
  using Sent = std::function<void(const TableChunk& place, std::span<const float> decoded)>;

  /// `copies`: what is kept is copied, because the net that it comes from goes on with another
  /// rank's step. `residuals`: what the first step adds. `sent` may be null.
  HostArithmetic(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                 std::shared_ptr<const ParameterTable> table, bool copies = false,
                 Residuals residuals = {}, Sent sent = nullptr);

  void begin(std::uint64_t step) override;
  Result<void> start(const Order& order, Listener& listener) override;
  Result<void> finish(Listener& /*listener*/) override { return {}; }
  nets::Gradient keep(std::uint32_t tensor, const nets::Gradient& gradient) override;
  Result<std::vector<std::vector<float>>> residuals() override;
  void restore(const std::vector<std::vector<float>>& residuals) override;
  Result<void> give_back(const Packet& packet) override;
  void settle(std::span<const std::uint32_t> repeated) override {
    residuals_.settle(*table_, repeated);
  }
  /// For who encodes some tensors in its stead.
  Residuals& kept_residuals() { return residuals_; }
  bool tells_what_is_sent() const { return sent_ != nullptr; }
  /// Tells it of a chunk of whose packet, which is opened, that is so.
  void tell_sent(const TableChunk& chunk, const kernels::Packet& packet) {
    decode(chunk, packet);
    sent_(chunk, decoded_);
  }

 private:
  struct Filled {
    float scaler = 1;
    std::size_t bytes = 0;
  };
  /// Fills the front of `out` with a chunk's payload.
  using Fill = std::function<Result<Filled>(const GradientCodec& codec, const TableChunk& chunk,
                                            MutableBytes out)>;
  /// Makes a chunk's planes; the result is their scaler.
  using MakePlanes = std::function<Result<float>(MutableBytes planes)>;
  using Values = std::span<const float>;

  Result<std::vector<float>> own_scalers(std::uint32_t tensor, Values values) const;
  Result<Filled> fill_planes(const GradientCodec& codec, std::size_t count, MutableBytes out,
                             const MakePlanes& make);
  /// Also in a step that travels as fp32: what is left of those before goes with it.
  bool feeds_back(std::uint32_t tensor) const { return residuals_.has(tensor); }
  Values with_residual(std::uint32_t tensor, Values values);
  void decode(const TableChunk& chunk, const kernels::Packet& packet);
  void keep_residual(const TableChunk& chunk);
  /// Packets of a tensor's chunks, in their order, each on its way before the next is filled.
  Result<void> pack(std::uint32_t tensor, const Fill& fill, Listener& listener);
  Result<void> copy(std::uint32_t tensor, Values values, Listener& listener);
  void encode(std::uint32_t tensor, Values values, const std::vector<float>& scalers,
              Listener& listener);
  Result<void> encode_buckets(std::uint32_t tensor, Values values, Listener& listener);
  /// With others' scalers; the result is this rank's own of this step.
  Result<Listener::Measured> encode_and_measure(std::uint32_t tensor, Values values,
                                                const std::vector<float>& scalers,
                                                Listener& listener);
  kernels::TernaryDraw draw(std::uint32_t tensor) const;
  float clip() const { return static_cast<float>(job_.gradient.clip); }
  PackChoices choices() const { return {job_.gradient.bits, job_.gradient.density}; }

  JobConfig job_;
  std::uint32_t rank_;
  kernels::Isa isa_;
  std::shared_ptr<const ParameterTable> table_;
  bool copies_;
  Sent sent_;
  BufferPool pool_;
  std::vector<TableScalers> scalers_;  // by tensor
  std::uint64_t step_ = 0;
  std::vector<std::byte> planes_;  // of one chunk, before they are sealed
  Residuals residuals_;
  std::vector<float> decoded_;              // of one chunk
  std::vector<std::vector<float>> copied_;  // by tensor: what is kept
};

}  // namespace sterna::actors
