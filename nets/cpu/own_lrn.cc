#include "nets/cpu/own_lrn.h"

#include <algorithm>
#include <vector>

#include "nets/cpu/lrn_passes.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

class OwnLrn final : public Lrn {
 public:
  OwnLrn(const LrnSpec& spec, const LrnPasses& passes)
      : passes_(passes),
        norm_{.channels = spec.input[1],
              .radius = spec.radius,
              .stride = spec.input[1] + kLrnSlack + 2 * spec.radius,
              .bias = spec.bias,
              .alpha = spec.alpha},
        at_once_(std::max<std::size_t>(1, kElementsAtOnce / spec.input[1])),
        x_(at_once_ * norm_.channels),
        dx_(x_.size()),
        squares_(at_once_ * norm_.stride),
        products_(squares_.size()) {}

  void forward(const Tensor& x, Tensor& y) override {
    for_some(x, [&](std::size_t first, std::size_t pixels) {
      const std::span<float> values = std::span(x_).first(pixels * norm_.channels);
      read(x, first, values);
      passes_.square(norm_, pixels, values.data(), squares_.data());
      passes_.normalize(norm_, pixels, squares_.data(), values.data());
      write(values, y, first);
    });
  }
  void backward(const Tensor& x, const Tensor& dy, Tensor& dx) override {
    for_some(x, [&](std::size_t first, std::size_t pixels) {
      const std::span<float> values = std::span(x_).first(pixels * norm_.channels);
      const std::span<float> gradient = std::span(dx_).first(values.size());
      read(x, first, values);
      read(dy, first, gradient);
      passes_.square(norm_, pixels, values.data(), squares_.data());
      passes_.scale(norm_, pixels, values.data(), squares_.data(), gradient.data(),
                    products_.data());
      passes_.subtract(norm_, pixels, values.data(), products_.data(), gradient.data());
      write(gradient, dx, first);
    });
  }

 private:
  /// visit(the first element, pixels)
  template <class Visit>
  void for_some(const Tensor& x, Visit visit) const {
    const std::size_t all = x.size() / norm_.channels;
    for (std::size_t i = 0; i < all; i += at_once_) {
      visit(i * norm_.channels, std::min(at_once_, all - i));
    }
  }

  LrnPasses passes_;
  LrnRows norm_;
  std::size_t at_once_;  // pixels
  std::vector<float> x_, dx_, squares_, products_;
};

}  // namespace

std::unique_ptr<Lrn> make_own_lrn(const LrnSpec& spec, kernels::Isa isa) {
  if (spec.beta != 0.75F) return nullptr;
  if (spec.element == Element::bf16) return std::make_unique<OwnLrn>(spec, lrn_passes_avx512());
  if (isa != kernels::Isa::avx2) return nullptr;
  return std::make_unique<OwnLrn>(spec, lrn_passes_avx2());
}

}  // namespace sterna::nets
