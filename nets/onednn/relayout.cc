#include "nets/backend/relayout.h"

#include "nets/onednn/primitive.h"

namespace sterna::nets {
namespace {

class OneDnnRelayout final : public Relayout {
 public:
  OneDnnRelayout(OneDnnBackend::Context& context, const Dims& dims)
      : forward_(context, describe(dims, Tag::nhwc), describe(dims, Tag::nchw)),
        backward_(context, describe(dims, Tag::nchw), describe(dims, Tag::nhwc)) {}
  void forward(const Tensor& channels_last, Tensor& row_major) override {
    forward_.run(channels_last.data(), row_major.data());
  }
  void backward(const Tensor& row_major, Tensor& channels_last) override {
    backward_.run(row_major.data(), channels_last.data());
  }

 private:
  Reorder forward_, backward_;
};

}  // namespace

std::unique_ptr<Relayout> OneDnnBackend::relayout(const RelayoutSpec& spec) {
  const TeamSize team(context_->threads);
  return std::make_unique<OneDnnRelayout>(*context_, dims_of(spec.shape));
}

}  // namespace sterna::nets
