// The end of a classifier: the mean softmax cross-entropy of its logits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nets/graph/graph.h"
#include "nets/tensor/loss.h"

namespace sterna::nets {

/// Computed in the backward pass, together with the gradient; in fp32, whatever the logits are.
class LossHead final : public Layer {
 public:
  LossHead(Reading& logits, const CrossEntropy& options);
  std::size_t classes() const { return logits_.value().shape()[1]; }
  const Tensor& logits() const { return logits_.value(); }
  /// Of the next backward pass, one an example, each below classes().
  void set_labels(std::span<const std::uint16_t> labels) {
    labels_.assign(labels.begin(), labels.end());
  }
  /// Of the last backward pass.
  float loss() const { return loss_; }

  void forward(const Pass& /*pass*/) override {}
  void backward(Completion& completion) override;

 private:
  Reading& logits_;
  CrossEntropy options_;
  std::vector<std::uint16_t> labels_;
  float loss_ = 0;
  std::vector<float> values_, gradient_;  // of bf16 logits
};

/// Of {N, classes} row-major.
LossHead& loss_head(Graph& graph, Activation& logits, const CrossEntropy& options = {});

}  // namespace sterna::nets
