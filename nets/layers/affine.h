// What the layers with weights and biases share. Internal to this room.
#pragma once

#include <memory>
#include <utility>

#include "nets/layers/layers.h"

namespace sterna::nets {

/// Weights and biases of one layer.
struct Affine {
  Parameter& weights;
  Parameter* biases;  ///< null: it has none
};

Affine affine_parameters(Graph& graph, const AffineOptions& options, Shape weights);

/// `Operation` is Convolution or InnerProduct.
template <class Operation>
class AffineLayer final : public Layer {
 public:
  AffineLayer(std::unique_ptr<Operation> operation, const Affine& affine, Reading& x, Activation& y)
      : operation_(std::move(operation)), affine_(affine), x_(x), y_(y) {}
  void forward(const Pass& /*pass*/) override {
    operation_->forward(x_.value(), affine_.weights.value,
                        affine_.biases != nullptr ? &affine_.biases->value : nullptr, y_.value());
  }
  void backward(Completion& completion) override {
    operation_->backward_parameters(
        x_.value(), y_.gradient(), affine_.weights.gradient,
        affine_.biases != nullptr ? &affine_.biases->gradient : nullptr);
    completion.complete({&affine_.weights, affine_.biases});
    if (Tensor* dx = x_.gradient())
      operation_->backward_data(y_.gradient(), affine_.weights.value, *dx);
  }
  void parameter_changed(const Parameter& parameter) override {
    if (&parameter == &affine_.weights) operation_->weights_changed();
  }

 private:
  std::unique_ptr<Operation> operation_;
  Affine affine_;
  Reading& x_;
  Activation& y_;
};

}  // namespace sterna::nets
