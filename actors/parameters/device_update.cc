#include "actors/parameters/device_update.h"

#include <vector>

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

Result<DeviceUpdate> DeviceUpdate::make(kernels::Device& device, kernels::DeviceStream& stream,
                                        const UpdateRule& rule, kernels::DeviceRule by,
                                        std::size_t elements, float* values) {
  DeviceUpdate made;
  STERNA_ASSIGN(made.sent_, device.make_event(kernels::EventUse::host));
  STERNA_ASSIGN(made.sent_here_, PinnedArray<Sent>::make(device, 1));
  STERNA_ASSIGN(made.sent_there_, DeviceArray<Sent>::make(device, 1));
  const std::vector<float> start = rule.initial_slots(elements);
  if (!start.empty()) {
    STERNA_ASSIGN(made.slots_, kernels::uploaded<float>(device, stream, start));
  }
  std::vector<kernels::UpdateWork> work;
  kernels::UpdatedTensor updated{.elements = elements,
                                 .packets = &made.sent_there_.data()->gradient,
                                 .current = values,
                                 .next = values};
  kernels::set_slots(updated, made.slots_.data(), rule.slots().size());
  kernels::append_update(updated, work);
  STERNA_ASSIGN(made.work_, kernels::uploaded<kernels::UpdateWork>(device, stream, work));
  made.launch_ = {.work = made.work_.data(),
                  .count = static_cast<std::uint32_t>(work.size()),
                  .ranks = 1,
                  .rule = by,
                  .step = &made.sent_there_.data()->step};
  return made;
}

DeviceUpdate::~DeviceUpdate() {
  if (sent_) static_cast<void>(sent_->wait());
}

Result<void> DeviceUpdate::step(const kernels::UpdateOptions& options,
                                std::span<const float> gradient, kernels::DeviceStream& stream) {
  STERNA_TRY(sent_->wait());  // long ago, for the step before
  Sent& sent = *sent_here_.data();
  sent.step = kernels::device_step(options);
  sent.gradient = {std::as_bytes(gradient).data(), nullptr, kernels::Packing::fp32};
  STERNA_TRY(sent_there_.upload(stream, sent_here_.elements()));
  STERNA_TRY(stream.record(*sent_));
  return stream.update(launch_);
}

}  // namespace sterna::actors
