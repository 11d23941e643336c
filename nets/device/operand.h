// What products and convolutions multiply: fp32s where they lie, or in bf16 what they were rounded
// to. Internal to this room.
#pragma once

#include <functional>
#include <utility>

#include "nets/device/context.h"

namespace sterna::nets {

/// Elements that lie side by side. A pass takes them, and may read them again until they are taken
/// anew, or until the next operation where they are in shared memory.
class Operand {
 public:
  Operand() = default;
  /// With memory of its own, where bf16s are multiplied.
  static Operand kept(DeviceContext& context, std::size_t elements) {
    Operand made(context, elements);
    if (context.multiplies_bf16s()) made.make_room();
    return made;
  }
  /// In memory that the next operation may write to, where bf16s are multiplied.
  static Operand shared(DeviceContext& context, DeviceContext::Bf16s which, std::size_t elements) {
    Operand made(context, elements);
    made.which_ = which;
    if (context.multiplies_bf16s()) context.reserve_bf16s(which, elements);
    return made;
  }
  /// Kept for a backward pass, if there is one.
  static Operand of_input(DeviceContext& context, bool backward, std::size_t elements) {
    return backward ? kept(context, elements)
                    : shared(context, DeviceContext::Bf16s::first, elements);
  }
  /// Puts on the stream what lays `from` into `to`, or its bf16s where they are not null.
  using Lay = std::function<void(const float* from, float* to, std::uint16_t* bf16s)>;
  /// Of elements that are laid out anew, and so have memory of their own always, zeroed at first.
  static Operand laid(DeviceContext& context, std::size_t elements, Lay lay) {
    Operand made(context, elements);
    made.make_room();
    made.lay_ = std::move(lay);
    return made;
  }

  /// Puts what rounds or lays them on the stream, if they are.
  void take(const float* from) {
    from_ = from;
    if (lay_) return lay_(from, context_->multiplies_bf16s() ? nullptr : own<float>(), bf16s());
    if (!context_->multiplies_bf16s()) return;
    context_->run(kernels::RoundLaunch{.from = from, .to = bf16s(), .count = elements_});
  }
  /// Unless it was taken last.
  void keep(const float* from) {
    if (from != from_) take(from);
  }
  /// What was taken, if anything, has other values.
  void changed() {
    if (from_ != nullptr) take(from_);
  }

  const void* data() const {
    if (context_->multiplies_bf16s()) return bf16s();
    return fp32s();
  }
  /// A matrix with the steps of `like`, from element `first` on.
  kernels::MatrixView view(kernels::MatrixView like, std::size_t first = 0) const {
    if (context_->multiplies_bf16s()) {
      like.bf16s = bf16s() + first;
    } else {
      like.data = fp32s() + first;
    }
    return like;
  }

 private:
  Operand(DeviceContext& context, std::size_t elements) : context_(&context), elements_(elements) {}
  void make_room() {
    const std::size_t bytes =
        elements_ * (context_->multiplies_bf16s() ? sizeof(std::uint16_t) : sizeof(float));
    own_ = must(kernels::DeviceArray<std::byte>::make(*context_->device, bytes));
  }
  template <class T>
  T* own() const {
    return reinterpret_cast<T*>(own_.data());
  }
  const float* fp32s() const { return lay_ ? own<float>() : from_; }
  std::uint16_t* bf16s() const {  // null in other arithmetic
    if (!context_->multiplies_bf16s()) return nullptr;
    return own_.data() != nullptr ? own<std::uint16_t>() : context_->bf16s(which_);
  }

  DeviceContext* context_ = nullptr;
  std::size_t elements_ = 0;
  kernels::DeviceArray<std::byte> own_;
  DeviceContext::Bf16s which_ = DeviceContext::Bf16s::first;
  Lay lay_;
  const float* from_ = nullptr;
};

}  // namespace sterna::nets
