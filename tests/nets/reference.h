// Plain double-precision layers, written from their definitions, in row-major NCHW: the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nets/tensor/loss.h"
#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"

namespace sterna::nets::reference {

using Values = std::vector<double>;

/// Gradients of one layer by its input, weights and biases.
struct Gradients {
  Values x, w, b;
};

/// Without biases where `b` is empty.
Values convolution(const Values& x, const Shape& shape, const Values& w, const Values& b,
                   std::size_t outputs, const Window& window, std::size_t groups = 1);
Gradients convolution_backward(const Values& x, const Shape& shape, const Values& w,
                               const Values& dy, std::size_t outputs, const Window& window,
                               std::size_t groups = 1);

/// Without biases where `b` is empty.
Values inner_product(const Values& x, std::size_t batch, const Values& w, const Values& b);
Gradients inner_product_backward(const Values& x, std::size_t batch, const Values& w,
                                 const Values& dy);

Values max_pool(const Values& x, const Shape& shape, const Window& window);
Values max_pool_backward(const Values& x, const Shape& shape, const Values& dy,
                         const Window& window);

/// The mean of the pixels that each window covers; padding does not count, or as zeros.
Values average_pool(const Values& x, const Shape& shape, const Window& window,
                    bool counts_padding = false);
/// `shape` is that of x.
Values average_pool_backward(const Values& dy, const Shape& shape, const Window& window,
                             bool counts_padding = false);

/// x / (bias + alpha · Σ x²)^beta, the sum over the channels at most `radius` away.
struct Lrn {
  std::size_t radius;
  double bias, alpha, beta;
};
Values lrn(const Values& x, const Shape& shape, const Lrn& options);
Values lrn_backward(const Values& x, const Shape& shape, const Lrn& options, const Values& dy);

/// Of each channel; the variance is biased.
struct Moments {
  Values mean, variance;
};
Moments moments(const Values& x, const Shape& shape);
/// scale · (x - mean) / √(variance + epsilon) + shift, channel by channel.
Values normalize(const Values& x, const Shape& shape, const Moments& by, double epsilon,
                 const Values& scale, const Values& shift);
/// By x, scale (`w`) and shift (`b`), where x is normalized by its own moments.
Gradients normalize_backward(const Values& x, const Shape& shape, double epsilon,
                             const Values& scale, const Values& dy);

/// Along the channels; `b` is {shape[0], more, shape[2], shape[3]}.
Values concat(const Values& a, const Shape& shape, const Values& b, std::size_t more);
/// Every stride-th pixel, and channels of zeros behind those of x.
Values subsample(const Values& x, const Shape& shape, std::size_t channels, std::size_t stride);

Values sigmoid(const Values& x);
Values sigmoid_backward(const Values& x, const Values& dy);
Values relu(const Values& x);
Values relu_backward(const Values& x, const Values& dy);

/// Mean cross-entropy; `gradient` (if wanted) is by the logits.
double cross_entropy(const Values& logits, std::span<const std::uint16_t> labels,
                     Values* gradient = nullptr, const CrossEntropy& options = {});

/// LeNet's loss without decay, and its gradients in the order of the parameter table.
double lenet(const std::vector<Values>& parameters, const Values& images,
             std::span<const std::uint16_t> labels, std::vector<Values>* gradients = nullptr);

/// The same of the multilayer perceptron with as many layers as `parameters` has weights.
double mlp(const std::vector<Values>& parameters, const Values& images,
           std::span<const std::uint16_t> labels, std::vector<Values>* gradients = nullptr);

}  // namespace sterna::nets::reference
