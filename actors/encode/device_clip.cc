#include "actors/encode/device_clip.h"

#include <algorithm>
#include <utility>

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

Result<std::unique_ptr<DeviceClip>> DeviceClip::make(std::shared_ptr<kernels::Device> device,
                                                     const ParameterTable& table) {
  const std::size_t tensors = table.tensors.size();
  std::unique_ptr<DeviceClip> made(new DeviceClip(std::move(device), tensors));
  kernels::Device& on = *made->device_;
  STERNA_ASSIGN(made->stream_, on.make_stream());
  STERNA_ASSIGN(made->sums_, DeviceArray<double>::make(on, tensors));
  STERNA_ASSIGN(made->sums_here_, PinnedArray<double>::make(on, tensors));
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < tensors; ++i) {
    const TableTensor& tensor = table.tensors[i];
    if (tensor.frozen || tensor.spec.role == nets::Role::statistic) continue;
    Scaled& to = made->scaled_[i];
    STERNA_ASSIGN(to.values, DeviceArray<float>::make(on, tensor.count));
    STERNA_ASSIGN(to.complete, on.make_event(kernels::EventUse::streams));
    blocks = std::max(blocks, kernels::square_blocks(tensor.count));
  }
  STERNA_ASSIGN(made->blocks_, DeviceArray<double>::make(on, blocks));
  return made;
}

DeviceClip::~DeviceClip() {
  if (stream_) static_cast<void>(stream_->finish());
}

Result<double> DeviceClip::squares(std::span<const nets::Gradient> gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const nets::Gradient& one = gradients[i];
    if (one.complete != nullptr) STERNA_TRY(stream_->wait_for(*one.complete));
    STERNA_TRY(stream_->layer(kernels::SquaresLaunch{.values = one.values.data(),
                                                     .blocks = blocks_.data(),
                                                     .sum = sums_.data() + i,
                                                     .count = one.values.size()}));
  }
  STERNA_TRY(sums_.download(*stream_, sums_here_.elements()));
  STERNA_TRY(stream_->finish());
  double sum = 0;
  for (const double one : sums_here_.elements().first(gradients.size())) sum += one;
  return sum;
}

Result<nets::Gradient> DeviceClip::scaled(std::uint32_t tensor, const nets::Gradient& gradient,
                                          float factor) {
  Scaled& to = scaled_[tensor];
  const std::size_t count = gradient.values.size();
  if (gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*gradient.complete));
  STERNA_TRY(stream_->layer(kernels::ElementLaunch{.pass = kernels::ElementPass::scale,
                                                   .a = gradient.values.data(),
                                                   .out = to.values.data(),
                                                   .count = count,
                                                   .factor = factor}));
  STERNA_TRY(stream_->record(*to.complete));
  return nets::Gradient{{to.values.data(), count}, to.complete.get()};
}

}  // namespace sterna::actors
