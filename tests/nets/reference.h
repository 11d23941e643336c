// Plain double-precision layers, written from their definitions, in row-major NCHW: the oracle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nets/tensor/tensor.h"
#include "nets/tensor/window.h"

namespace sterna::nets::reference {

using Values = std::vector<double>;

/// Gradients of one layer by its input, weights and biases.
struct Gradients {
  Values x, w, b;
};

Values convolution(const Values& x, const Shape& shape, const Values& w, const Values& b,
                   std::size_t outputs, const Window& window);
Gradients convolution_backward(const Values& x, const Shape& shape, const Values& w,
                               const Values& dy, std::size_t outputs, const Window& window);

Values inner_product(const Values& x, std::size_t batch, const Values& w, const Values& b);
Gradients inner_product_backward(const Values& x, std::size_t batch, const Values& w,
                                 const Values& dy);

Values max_pool(const Values& x, const Shape& shape, const Window& window);
Values max_pool_backward(const Values& x, const Shape& shape, const Values& dy,
                         const Window& window);

Values relu(const Values& x);
Values relu_backward(const Values& x, const Values& dy);

/// Mean cross-entropy; `gradient` (if wanted) is by the logits.
double cross_entropy(const Values& logits, std::span<const std::uint16_t> labels,
                     Values* gradient = nullptr);

/// LeNet's loss without decay, and its gradients in the order of the parameter table.
double lenet(const std::vector<Values>& parameters, const Values& images,
             std::span<const std::uint16_t> labels, std::vector<Values>* gradients = nullptr);

/// The same of the multilayer perceptron with as many layers as `parameters` has weights.
double mlp(const std::vector<Values>& parameters, const Values& images,
           std::span<const std::uint16_t> labels, std::vector<Values>* gradients = nullptr);

}  // namespace sterna::nets::reference
