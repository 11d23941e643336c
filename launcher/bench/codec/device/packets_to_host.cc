#include "launcher/bench/codec/device/packets_to_host.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace sterna::launcher {
namespace {

/// Where groups end, as parts of all elements: the first is the smaller, so that copies begin
/// early.
constexpr std::array kParts{1.0 / 3, 1.0};

}  // namespace

Result<PacketsToHost> PacketsToHost::make(kernels::Device& device, kernels::DeviceStream& stream,
                                          const DeviceCodecSetup& setup) {
  PacketsToHost made(stream);
  const auto all =
      static_cast<double>(std::accumulate(setup.net.begin(), setup.net.end(), std::size_t{0}));
  std::vector<std::size_t> group;
  std::size_t elements = 0;
  for (const std::size_t n : setup.net) {
    group.push_back(n);
    elements += n;
    const double part = kParts[std::min(made.groups_.size(), kParts.size() - 1)];
    if (static_cast<double>(elements) < part * all) continue;
    STERNA_TRY(made.add(device, setup, std::exchange(group, {})));
  }
  if (!group.empty()) STERNA_TRY(made.add(device, setup, group));
  STERNA_ASSIGN(made.copies_, device.make_stream());
  STERNA_ASSIGN(made.encoded_, device.make_event(kernels::EventUse::streams));
  STERNA_ASSIGN(made.copied_, device.make_event(kernels::EventUse::streams));
  STERNA_ASSIGN(made.here_, kernels::PinnedArray<std::byte>::make(device, made.bytes_));
  STERNA_ASSIGN(made.there_, kernels::DeviceArray<std::byte>::make(device, made.bytes_));
  return made;
}

Result<void> PacketsToHost::add(kernels::Device& device, const DeviceCodecSetup& setup,
                                const std::vector<std::size_t>& tensors) {
  STERNA_ASSIGN(DeviceEncoding group, DeviceEncoding::make(device, *stream_, setup, tensors));
  bytes_ += group.planes(0).size();
  groups_.push_back(std::move(group));
  return {};
}

DeviceContender PacketsToHost::to_host() const {
  DeviceContender all{"to_host", {}};
  for (std::size_t buffer = 0; buffer < groups_.front().buffers(); ++buffer) {
    all.passes.emplace_back([this, buffer]() -> Result<void> {
      std::byte* to = here_.data();
      for (const DeviceEncoding& group : groups_) {
        const std::size_t of_group = buffer % group.buffers();
        STERNA_TRY(group.encode(of_group));
        STERNA_TRY(stream_->record(*encoded_));
        STERNA_TRY(copies_->wait_for(*encoded_));
        const kernels::DeviceArray<std::byte>& planes = group.planes(of_group);
        STERNA_TRY(copies_->copy(to, planes.data(), planes.size()));
        to += planes.size();
      }
      STERNA_TRY(copies_->record(*copied_));
      return stream_->wait_for(*copied_);
    });
  }
  return all;
}

DeviceContender PacketsToHost::pinned_copy() const {
  return {"pinned_copy", {[this] { return stream_->copy(here_.data(), there_.data(), bytes_); }}};
}

}  // namespace sterna::launcher
