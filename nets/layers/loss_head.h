// The end of a net: the mean softmax cross-entropy of its logits, or their squared error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "nets/backend/loss.h"
#include "nets/graph/graph.h"

namespace sterna::nets {

/// What a head makes of its logits.
struct HeadLoss {
  CrossEntropy cross_entropy = {};
  /// Set: the squared error against it, of cross_entropy.weight; labels are not looked at.
  std::optional<float> target = std::nullopt;
  std::size_t passes = 1;  ///< that make a step
};

/// Computed in the backward pass, together with the gradient; in fp32, whatever the logits are.
class LossHead final : public Layer {
 public:
  LossHead(std::unique_ptr<Loss> operation, Reading& logits, const HeadLoss& options);
  std::size_t classes() const { return logits_.value().shape()[1]; }
  const Tensor& logits() const { return logits_.value(); }
  /// Of the next backward pass, which is number `pass` of its step; one an example, each below
  /// classes().
  void set_labels(std::span<const std::uint16_t> labels, std::size_t pass = 0) {
    operation_->set_labels(labels, pass);
  }
  /// The loss of other logits, {labels.size(), classes} row-major, as evaluation counts it: without
  /// smoothing or weight. `gradient` is as large, and is overwritten.
  float evaluate(std::span<const float> logits, std::span<const std::uint16_t> labels,
                 std::span<float> gradient) const;
  /// Of backward pass number `pass` of the step; waits for its last.
  float loss(std::size_t pass = 0) const { return operation_->loss(pass); }

  void forward(const Pass& /*pass*/) override {}
  void backward(Completion& completion) override;

 private:
  std::unique_ptr<Loss> operation_;
  Reading& logits_;
  HeadLoss options_;
};

/// Of {N, classes} row-major.
LossHead& loss_head(Graph& graph, Activation& logits, const HeadLoss& options = {});

}  // namespace sterna::nets
