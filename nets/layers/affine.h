// What the layers with weights and biases share. Internal to this room.
#pragma once

#include <memory>
#include <utility>

#include "nets/layers/layers.h"

namespace sterna::nets {

/// Weights and biases of one layer, with their indices in the table.
struct Affine {
  Parameter& weights;
  Parameter& biases;
  std::size_t index;  ///< of the weights; the biases follow
};

Affine affine_parameters(Graph& graph, const AffineOptions& options, Shape weights);

/// `Operation` is Convolution or InnerProduct.
template <class Operation>
class AffineLayer final : public Layer {
 public:
  AffineLayer(std::unique_ptr<Operation> operation, const Affine& affine, Reading& x, Activation& y)
      : operation_(std::move(operation)), affine_(affine), x_(x), y_(y) {}
  void forward(Mode /*mode*/) override {
    operation_->forward(x_.value(), affine_.weights.value, affine_.biases.value, y_.value());
  }
  void backward(Completion& completion) override {
    operation_->backward_parameters(x_.value(), y_.gradient(), affine_.weights.gradient,
                                    affine_.biases.gradient);
    completion.complete(affine_.index);
    completion.complete(affine_.index + 1);
    if (Tensor* dx = x_.gradient())
      operation_->backward_data(y_.gradient(), affine_.weights.value, *dx);
  }
  void parameter_changed() override { operation_->weights_changed(); }

 private:
  std::unique_ptr<Operation> operation_;
  Affine affine_;
  Reading& x_;
  Activation& y_;
};

}  // namespace sterna::nets
