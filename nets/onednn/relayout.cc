#include "nets/backend/relayout.h"

#include <optional>

#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

class OneDnnRelayout final : public Relayout {
 public:
  OneDnnRelayout(OneDnnBackend::Context& context, const Descriptor& channels_last,
                 const Descriptor& row_major, bool backward)
      : forward_(context, channels_last, row_major) {
    if (backward) backward_.emplace(context, row_major, channels_last);
  }
  void forward(const Tensor& channels_last, Tensor& row_major) override {
    forward_.run(channels_last.memory(), row_major.memory());
  }
  void backward(const Tensor& row_major, Tensor& channels_last) override {
    backward_->run(row_major.memory(), channels_last.memory());
  }

 private:
  Reorder forward_;
  std::optional<Reorder> backward_;
};

}  // namespace

std::unique_ptr<Relayout> OneDnnBackend::relayout(const RelayoutSpec& spec) {
  const TeamSize team(context_->threads);
  const Dims dims = dims_of(spec.shape);
  return std::make_unique<OneDnnRelayout>(*context_, describe(dims, Tag::nhwc, spec.element),
                                          describe(dims, Tag::nchw, spec.element), spec.backward);
}

}  // namespace sterna::nets
