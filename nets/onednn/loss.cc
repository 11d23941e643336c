#include "nets/backend/loss.h"

#include <vector>

#include "nets/onednn/onednn_backend.h"
#include "nets/tensor/elementwise.h"

namespace sterna::nets {
namespace {

/// In fp32, whatever the logits are.
class CpuLoss final : public Loss {
 public:
  explicit CpuLoss(const LossSpec& spec) : spec_(spec), losses_(spec.passes) {
    if (spec.element == Element::fp32) return;
    values_.resize(spec.batch * spec.classes);
    gradient_.resize(values_.size());
  }
  void set_labels(std::span<const std::uint16_t> labels, std::size_t pass) override {
    labels_.assign(labels.begin(), labels.end());
    pass_ = pass;
  }
  void backward(const Tensor& logits, Tensor& gradient) override {
    if (spec_.element == Element::fp32) {
      losses_[pass_] = compute(logits.values(), gradient.values());
      return;
    }
    read(logits, 0, values_);
    losses_[pass_] = compute(values_, gradient_);
    write(gradient_, gradient, 0);
  }
  float loss(std::size_t pass) override { return losses_[pass]; }

 private:
  float compute(std::span<const float> logits, std::span<float> gradient) const {
    if (spec_.target) {
      return squared_error(logits, *spec_.target, gradient, spec_.cross_entropy.weight);
    }
    return softmax_cross_entropy(logits, labels_, spec_.classes, gradient, spec_.cross_entropy);
  }

  LossSpec spec_;
  std::vector<std::uint16_t> labels_;
  std::size_t pass_ = 0;
  std::vector<float> losses_;             // of a step's passes
  std::vector<float> values_, gradient_;  // of bf16 logits
};

}  // namespace

std::unique_ptr<Loss> OneDnnBackend::loss(const LossSpec& spec) {
  return std::make_unique<CpuLoss>(spec);
}

}  // namespace sterna::nets
