// GradientClip: what it takes to scale a rank's whole gradient down to a norm, where the gradient
// lies: in the host's memory, or in a device's (device_clip.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/numbers/squares.h"
#include "nets/tensor/gradient.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Of one rank. Used by one thread at a time.
class GradientClip {
 public:
  virtual ~GradientClip() = default;
  /// The sum of squares of each of these gradients (kernels/numbers/squares.h), added in their
  /// order. Waits for it. Errors: the device's.
  virtual Result<double> squares(std::span<const nets::Gradient> gradients) = 0;
  /// Where scaled() puts a tensor's gradient, where that is known before; else empty.
  virtual std::span<const float> place(std::uint32_t /*tensor*/) const { return {}; }
  /// A tensor's gradient times `factor`, which stays until the next call for it. Errors: the
  /// device's.
  virtual Result<nets::Gradient> scaled(std::uint32_t tensor, const nets::Gradient& gradient,
                                        float factor) = 0;
};

class HostClip final : public GradientClip {
 public:
  explicit HostClip(std::size_t tensors) : scaled_(tensors) {}

  Result<double> squares(std::span<const nets::Gradient> gradients) override {
    double sum = 0;
    for (const nets::Gradient& one : gradients) sum += kernels::sum_of_squares(one.values);
    return sum;
  }
  Result<nets::Gradient> scaled(std::uint32_t tensor, const nets::Gradient& gradient,
                                float factor) override {
    std::vector<float>& out = scaled_[tensor];
    out.resize(gradient.values.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = gradient.values[i] * factor;
    return nets::Gradient{out};
  }

 private:
  std::vector<std::vector<float>> scaled_;
};

}  // namespace sterna::actors
