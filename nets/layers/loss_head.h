// The end of a net: the mean softmax cross-entropy of its logits, or their squared error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "nets/graph/graph.h"
#include "nets/tensor/loss.h"

namespace sterna::nets {

/// What a head makes of its logits.
struct HeadLoss {
  CrossEntropy cross_entropy = {};
  /// Set: the squared error against it, of cross_entropy.weight; labels are not looked at.
  std::optional<float> target = std::nullopt;
};

/// Computed in the backward pass, together with the gradient; in fp32, whatever the logits are.
class LossHead final : public Layer {
 public:
  LossHead(Reading& logits, const HeadLoss& options);
  std::size_t classes() const { return logits_.value().shape()[1]; }
  const Tensor& logits() const { return logits_.value(); }
  /// Of the next backward pass, one an example, each below classes().
  void set_labels(std::span<const std::uint16_t> labels) {
    labels_.assign(labels.begin(), labels.end());
  }
  /// The loss of other logits, {labels.size(), classes} row-major, as evaluation counts it: without
  /// smoothing or weight. `gradient` is as large, and is overwritten.
  float evaluate(std::span<const float> logits, std::span<const std::uint16_t> labels,
                 std::span<float> gradient) const;
  /// Of the last backward pass.
  float loss() const { return loss_; }

  void forward(const Pass& /*pass*/) override {}
  void backward(Completion& completion) override;

 private:
  float compute(std::span<const float> logits, std::span<const std::uint16_t> labels,
                std::span<float> gradient, const CrossEntropy& options) const;

  Reading& logits_;
  HeadLoss options_;
  std::vector<std::uint16_t> labels_;
  float loss_ = 0;
  std::vector<float> values_, gradient_;  // of bf16 logits
};

/// Of {N, classes} row-major.
LossHead& loss_head(Graph& graph, Activation& logits, const HeadLoss& options = {});

}  // namespace sterna::nets
