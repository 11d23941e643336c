// What products and convolutions multiply that is not a tensor as it lies: weights, which are
// rounded where bf16s are multiplied, and what is laid out as a library wants it. Internal to this
// room.
#pragma once

#include <functional>
#include <utility>

#include "nets/device/context.h"

namespace sterna::nets {

/// A pass takes it, and may read it again until it is taken anew.
class Operand {
 public:
  Operand() = default;
  /// Of fp32s: where they lie, or with memory for their bf16s where those are multiplied.
  static Operand of_weights(DeviceContext& context, std::size_t elements) {
    Operand made(context, elements);
    if (context.multiplies_bf16s()) made.make_room();
    return made;
  }
  /// Puts on the stream what lays `from` into `to`.
  using Lay = std::function<void(const kernels::Numbers& from, const kernels::Numbers& to)>;
  /// Of elements that are laid out anew, and so have memory of their own always, zeroed at first.
  static Operand laid(DeviceContext& context, std::size_t elements, Lay lay) {
    Operand made(context, elements);
    made.make_room();
    made.lay_ = std::move(lay);
    return made;
  }

  /// Puts what rounds or lays them on the stream, if they are.
  void take(const kernels::Numbers& from) {
    from_ = from;
    if (lay_) return lay_(from, room());
    if (own_.data() == nullptr) return;
    context_->run(kernels::RoundLaunch{.from = static_cast<const float*>(from.at),
                                       .to = static_cast<std::uint16_t*>(room().at),
                                       .count = elements_});
  }
  /// Unless it was taken last.
  void keep(const kernels::Numbers& from) {
    if (from.at != from_.at) take(from);
  }
  /// What was taken, if anything, has other values.
  void changed() {
    if (from_.at != nullptr) take(from_);
  }

  kernels::Numbers numbers() const { return own_.data() != nullptr ? room() : from_; }

 private:
  Operand(DeviceContext& context, std::size_t elements) : context_(&context), elements_(elements) {}
  void make_room() {
    const std::size_t bytes =
        kernels::Numbers(nullptr, context_->multiplies_bf16s()).bytes(elements_);
    own_ = must(kernels::DeviceArray<std::byte>::make(*context_->device, bytes));
  }
  kernels::Numbers room() const { return {own_.data(), context_->multiplies_bf16s()}; }

  DeviceContext* context_ = nullptr;
  std::size_t elements_ = 0;
  kernels::DeviceArray<std::byte> own_;
  Lay lay_;
  kernels::Numbers from_;
};

}  // namespace sterna::nets
