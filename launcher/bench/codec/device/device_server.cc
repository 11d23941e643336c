#include "launcher/bench/codec/device/device_server.h"

#include <utility>

#include "kernels/device/tables.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/ternary.h"

namespace sterna::launcher {

using kernels::DeviceArray;
using kernels::DevicePacket;
using kernels::SumWork;
using kernels::UpdateWork;

Result<DeviceServer> DeviceServer::make(kernels::Device& device, kernels::DeviceStream& stream,
                                        const DeviceCodecSetup& setup) {
  DeviceServer made(stream);
  const std::size_t elements = setup.elements;
  STERNA_ASSIGN(DeviceEncoding ranks, DeviceEncoding::make(device, stream, setup, {elements}));
  made.ranks_ = std::make_unique<DeviceEncoding>(std::move(ranks));
  const DeviceContender trits =
      made.ranks_->contender("ternarize", {kernels::EncodePass::ternarize});
  for (const auto& pass : trits.passes) STERNA_TRY(pass());
  STERNA_ASSIGN(made.step_, kernels::uploaded<kernels::DeviceStep>(device, stream, {&kStep, 1}));
  const DevicePacket plain{reinterpret_cast<const std::byte*>(made.ranks_->gradients(0).data()),
                           nullptr, kernels::Packing::fp32};
  STERNA_ASSIGN(made.plain_, kernels::uploaded<DevicePacket>(device, stream, {&plain, 1}));
  const std::size_t packed = kRanks * kernels::planes_bytes(elements);
  for (std::size_t left = buffers_of(device, setup, packed); left > 0; --left) {
    STERNA_TRY(made.add_packed(device, elements));
  }
  const std::size_t stepped = 3 * elements * sizeof(float);
  for (std::size_t left = buffers_of(device, setup, stepped); left > 0; --left) {
    STERNA_TRY(made.add_stepped(device, elements));
  }
  STERNA_TRY(stream.finish());
  return made;
}

Result<void> DeviceServer::add_packed(kernels::Device& device, std::size_t elements) {
  Packed one;
  const std::size_t bytes = kernels::planes_bytes(elements);
  STERNA_ASSIGN(one.planes, DeviceArray<std::byte>::make(device, kRanks * bytes));
  std::vector<DevicePacket> packets;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    std::byte* const planes = one.planes.data() + rank * bytes;
    const DeviceArray<std::byte>& from = ranks_->planes(rank % ranks_->buffers());
    STERNA_TRY(stream_->copy(planes, from.data(), bytes));
    packets.push_back({planes, ranks_->scalers(0).data(), kernels::Packing::planes});
  }
  STERNA_ASSIGN(one.packets, kernels::uploaded<DevicePacket>(device, *stream_, packets));
  STERNA_ASSIGN(one.sums,
                DeviceArray<std::byte>::make(device, kernels::sum_bytes(elements, kRanks)));
  std::vector<SumWork> table;
  kernels::append_sums(one.packets.data(), elements, kRanks, one.sums.data(), table);
  STERNA_ASSIGN(one.work, kernels::uploaded<SumWork>(device, *stream_, table));
  packed_.push_back(std::move(one));
  return {};
}

Result<void> DeviceServer::add_stepped(kernels::Device& device, std::size_t elements) {
  Stepped one;
  for (DeviceArray<float>* const made : {&one.current, &one.next, &one.slot}) {
    STERNA_ASSIGN(*made, DeviceArray<float>::make(device, elements));
  }
  kernels::UpdatedTensor tensor{.elements = elements,
                                .packets = packed_[stepped_.size() % packed_.size()].packets.data(),
                                .current = one.current.data(),
                                .next = one.next.data()};
  kernels::set_slots(tensor, one.slot.data(), 1);
  std::vector<UpdateWork> table;
  kernels::append_update(tensor, table);
  STERNA_ASSIGN(one.of_trits, kernels::uploaded<UpdateWork>(device, *stream_, table));
  tensor.packets = plain_.data();
  table.clear();
  kernels::append_update(tensor, table);
  STERNA_ASSIGN(one.of_floats, kernels::uploaded<UpdateWork>(device, *stream_, table));
  stepped_.push_back(std::move(one));
  return {};
}

DeviceContender DeviceServer::aggregate() const {
  DeviceContender all{"aggregate", {}};
  for (const Packed& one : packed_) {
    all.passes.emplace_back([this, &one] {
      return stream_->sum_trits(
          {one.work.data(), static_cast<std::uint32_t>(one.work.size()), kRanks});
    });
  }
  return all;
}

DeviceContender DeviceServer::fused() const {
  DeviceContender all{"fused", {}};
  for (const Stepped& one : stepped_) {
    all.passes.emplace_back([this, &one] { return step(one.of_trits, kRanks); });
  }
  return all;
}

DeviceContender DeviceServer::momentum() const {
  DeviceContender all{"momentum", {}};
  for (const Stepped& one : stepped_) {
    all.passes.emplace_back([this, &one] { return step(one.of_floats, 1); });
  }
  return all;
}

Result<void> DeviceServer::step(const DeviceArray<UpdateWork>& work, std::uint32_t ranks) const {
  return stream_->update({.work = work.data(),
                          .count = static_cast<std::uint32_t>(work.size()),
                          .ranks = ranks,
                          .rule = kernels::DeviceRule::momentum,
                          .step = step_.data()});
}

}  // namespace sterna::launcher
