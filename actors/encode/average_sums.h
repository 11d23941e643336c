// AverageSums: the sums that a HostAverage makes of its ranks' gradients, beside them: in the
// host's memory, or in a device's (device_sums.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/codecs/buffer_pool.h"
#include "nets/tensor/gradient.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// One sum for each tensor; each operation of it is an fp32 one, and in the order of the calls.
/// Different tensors may be added to from several threads. `place` is a rank's among those whose
/// gradients are added.
class AverageSums {
 public:
  virtual ~AverageSums() = default;
  /// A copy of a gradient that comes before its turn.
  struct Held {
    nets::Gradient gradient;
    std::shared_ptr<Buffer> memory = nullptr;  ///< null: it lies on a device, until it is added
  };
  virtual Result<Held> hold(std::uint32_t tensor, std::uint32_t place,
                            const nets::Gradient& gradient) = 0;
  /// Whether what the rank gives lies where it can be added: else it is held, though it is its
  /// turn.
  virtual bool reaches(std::uint32_t place) const = 0;
  /// The first gradient is added to 0, another one to what is there. On a device the gradient stays
  /// as it is until finish(). Errors: the device's.
  virtual Result<void> start(std::uint32_t tensor, const nets::Gradient& gradient) = 0;
  virtual Result<void> add(std::uint32_t tensor, const nets::Gradient& gradient) = 0;
  /// Where average() leaves it, where that is known before; else empty.
  virtual std::span<const float> place(std::uint32_t /*tensor*/) const { return {}; }
  /// The sum over `ranks`, which stays until the next start().
  virtual Result<nets::Gradient> average(std::uint32_t tensor, std::uint32_t ranks) = 0;
  /// Waits until all gradients were read that the rank has given.
  virtual Result<void> finish(std::uint32_t place) = 0;
};

/// Of gradients in the host's memory.
class HostSums final : public AverageSums {
 public:
  explicit HostSums(std::size_t tensors) : sums_(tensors) {}

  Result<Held> hold(std::uint32_t, std::uint32_t, const nets::Gradient& gradient) override {
    const std::shared_ptr<Buffer> copy = pool_.take(gradient.values.size_bytes());
    std::ranges::copy(gradient.values, copy->as<float>().begin());
    return Held{{copy->as<float>().first(gradient.values.size())}, copy};
  }
  bool reaches(std::uint32_t) const override { return true; }
  Result<void> start(std::uint32_t tensor, const nets::Gradient& gradient) override {
    std::vector<float>& sum = sums_[tensor];
    sum.resize(gradient.values.size());
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = 0.0F + gradient.values[i];
    return {};
  }
  Result<void> add(std::uint32_t tensor, const nets::Gradient& gradient) override {
    std::vector<float>& sum = sums_[tensor];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient.values[i];
    return {};
  }
  Result<nets::Gradient> average(std::uint32_t tensor, std::uint32_t ranks) override {
    std::vector<float>& sum = sums_[tensor];
    for (float& value : sum) value /= static_cast<float>(ranks);
    return nets::Gradient{sum};
  }
  Result<void> finish(std::uint32_t) override { return {}; }

 private:
  BufferPool pool_;
  std::vector<std::vector<float>> sums_;
};

}  // namespace sterna::actors
