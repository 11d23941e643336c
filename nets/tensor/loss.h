// The loss of a classifier: softmax cross-entropy, and L2 weight decay; and of toy problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sterna::nets {

struct CrossEntropy {
  /// Label smoothing: a target is (1 - smoothing) · onehot + smoothing / classes (Szegedy et al.,
  /// "Rethinking the Inception architecture", 2015).
  double smoothing = 0;
  double weight = 1;  ///< of loss and gradient
};

/// The mean over the batch of weight · -Σ target · log softmax(logits), natural logarithm. `logits`
/// and `gradient` are labels.size() × classes, row-major; labels are below `classes`. The gradient
/// by the logits, weight · (softmax - target) / batch, is written to `gradient`. NaN in gives NaN
/// out.
float softmax_cross_entropy(std::span<const float> logits, std::span<const std::uint16_t> labels,
                            std::size_t classes, std::span<float> gradient,
                            const CrossEntropy& options = {});

/// Mean squared error: weight · mean((value - target)²), and its gradient by the values. NaN in
/// gives NaN out.
float squared_error(std::span<const float> values, float target, std::span<float> gradient,
                    double weight = 1);

/// Adds decay·w to each gradient and returns Σ w² (not yet multiplied by decay / 2), in an order of
/// summation that depends on nothing but the length.
double add_decay(std::span<const float> weights, float decay, std::span<float> gradient);

}  // namespace sterna::nets
