#include "actors/encode/device_watch.h"

#include <algorithm>

#include "kernels/trits/ternary.h"

namespace sterna::actors {

using kernels::PinnedArray;

Result<std::unique_ptr<DeviceWatch>> DeviceWatch::make(std::shared_ptr<kernels::Device> device,
                                                       const ParameterTable& table) {
  std::unique_ptr<DeviceWatch> made(new DeviceWatch(std::move(device)));
  std::size_t most = 0;
  for (const TableChunk& chunk : table.chunks) most = std::max<std::size_t>(most, chunk.count);
  const std::size_t planes = kernels::planes_bytes(most) / sizeof(float);  // more, of a few
  kernels::Device& on = *made->device_;
  STERNA_ASSIGN(made->stream_, on.make_stream());
  STERNA_ASSIGN(made->values_, PinnedArray<float>::make(on, std::max(most, planes)));
  STERNA_ASSIGN(made->room_, PinnedArray<float>::make(on, most));
  STERNA_ASSIGN(made->scaler_, PinnedArray<float>::make(on, 1));
  return made;
}

DeviceWatch::~DeviceWatch() {
  if (stream_) static_cast<void>(stream_->finish());
}

Result<std::span<const float>> DeviceWatch::gradient(const nets::Gradient& gradient,
                                                     const TableChunk& chunk) {
  const std::span<float> here = values_.elements().first(chunk.count);
  if (gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*gradient.complete));
  STERNA_TRY(stream_->copy(here.data(), gradient.values.data() + chunk.first, here.size_bytes()));
  STERNA_TRY(stream_->finish());
  return std::span<const float>(here);
}

Result<kernels::Packet> DeviceWatch::packet(const PacketPlace& place, kernels::Packing packing,
                                            const TableChunk& chunk) {
  // Chunks begin where a block of planes does.
  const std::byte* const from = place.payload + kernels::packed_bytes(packing, chunk.first);
  const auto here =
      std::as_writable_bytes(values_.elements()).first(kernels::packed_bytes(packing, chunk.count));
  STERNA_TRY(stream_->copy(here.data(), from, here.size()));
  if (packing == kernels::Packing::planes) {
    STERNA_TRY(stream_->copy(scaler_.data(), place.scaler, sizeof(float)));
  }
  STERNA_TRY(stream_->finish());
  return kernels::Packet{packing, *scaler_.data(), here};
}

}  // namespace sterna::actors
