// Products of matrices as a device's library makes them, or as a plain launch does where it has
// none. Internal to this room.
#pragma once

#include <memory>

#include "nets/device/context.h"

namespace sterna::nets {

/// One shape's, again and again. The context outlives it.
class Product {
 public:
  /// Of launches that differ from `like` in their addresses alone: with a bias where it has one,
  /// and to bf16s where it is.
  Product(DeviceContext& context, const kernels::ProductLaunch& like)
      : context_(context), operation_(must(context.stream->product({like, context.arithmetic}))) {
    if (operation_ == nullptr) return;
    context.prepare(*operation_);
    context.plans.push_back(operation_->name());
  }

  void run(const kernels::ProductLaunch& launch) const {
    if (operation_ == nullptr) return context_.run(launch);
    context_.run(
        *operation_,
        {.a = launch.a.data.at, .b = launch.b.data.at, .bias = launch.bias, .out = launch.out.at});
  }

 private:
  DeviceContext& context_;
  std::unique_ptr<kernels::DeviceOperation> operation_;
};

}  // namespace sterna::nets
