#include "actors/worker/exchanged_steps.h"

#include <algorithm>
#include <utility>

#include "actors/codecs/codec.h"
#include "kernels/device/tables.h"
#include "kernels/sums/sums.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

namespace {

/// Planes and fp32 are read 16 bytes at a time; the scaler has as many to itself.
constexpr std::size_t kAligned = 16;

std::size_t payload_bytes(const TableTensor& tensor) {
  const std::size_t bytes = codec_of(tensor.codec).ternary() ? kernels::planes_bytes(tensor.count)
                                                             : tensor.count * sizeof(float);
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

}  // namespace

ExchangedSteps::ExchangedSteps(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
                               const UpdateRule& rule, std::shared_ptr<kernels::Device> device,
                               std::uint32_t devices)
    : job_(job),
      table_(std::move(table)),
      rule_(rule),
      device_(std::move(device)),
      devices_(devices),
      each_((job.ranks + devices - 1) / devices),
      tensors_(table_->tensors.size()) {}

ExchangedSteps::~ExchangedSteps() {
  if (stream_) static_cast<void>(stream_->finish());
  for (Tensor& tensor : tensors_) {
    if (tensor.sent) static_cast<void>(tensor.sent->wait());
  }
}

Result<std::unique_ptr<ExchangedSteps>> ExchangedSteps::make(
    const JobConfig& job, std::shared_ptr<const ParameterTable> table, const UpdateRule& rule,
    std::shared_ptr<kernels::Device> device, std::uint32_t devices) {
  std::unique_ptr<ExchangedSteps> made(
      new ExchangedSteps(job, std::move(table), rule, std::move(device), devices));
  kernels::Device& on = *made->device_;
  STERNA_ASSIGN(made->stream_, on.make_stream());
  const std::size_t tensors = made->tensors_.size();
  STERNA_ASSIGN(made->steps_, DeviceArray<kernels::DeviceStep>::make(on, tensors));
  STERNA_ASSIGN(made->steps_here_, PinnedArray<kernels::DeviceStep>::make(on, tensors));
  for (std::uint32_t tensor = 0; tensor < tensors; ++tensor) {
    const TableTensor& place = made->table_->tensors[tensor];
    if (place.frozen || place.spec.role == nets::Role::statistic) continue;
    STERNA_TRY(made->make_tensor(tensor));
  }
  return made;
}

Result<void> ExchangedSteps::make_tensor(std::uint32_t index) {
  const TableTensor& place = table_->tensors[index];
  Tensor& made = tensors_[index];
  kernels::Device& on = *device_;
  const bool ternary = codec_of(place.codec).ternary();
  made.bytes = payload_bytes(place) + kAligned;
  made.sums = ternary && job_.shares_scalers();
  STERNA_ASSIGN(made.parts, DeviceArray<std::byte>::make(on, part_bytes(index) * devices_));
  STERNA_ASSIGN(made.gathered, on.make_event());
  STERNA_ASSIGN(made.sent, on.make_event());
  std::vector<kernels::DevicePacket> packets;
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    const PacketPlace of_rank = this->place(index, rank);
    packets.push_back({of_rank.payload, of_rank.scaler,
                       ternary ? kernels::Packing::planes : kernels::Packing::fp32});
  }
  STERNA_ASSIGN(made.packets, kernels::uploaded<kernels::DevicePacket>(on, *stream_, packets));
  if (made.sums) {
    STERNA_ASSIGN(made.summed,
                  DeviceArray<std::byte>::make(on, kernels::sum_bytes(place.count, job_.ranks)));
    std::vector<kernels::SumWork> work;
    kernels::append_sums(made.packets.data(), place.count, job_.ranks, made.summed.data(), work);
    STERNA_ASSIGN(made.sum_work, kernels::uploaded<kernels::SumWork>(on, *stream_, work));
    made.sum = {made.sum_work.data(), static_cast<std::uint32_t>(work.size()), job_.ranks};
  }
  if (rule_.slots().empty()) return {};
  const std::vector<float> start = rule_.initial_slots(place.count);
  STERNA_ASSIGN(made.slots, kernels::uploaded<float>(on, *stream_, start));
  return {};
}

PacketPlace ExchangedSteps::place(std::uint32_t tensor, std::uint32_t rank) const {
  const Tensor& of = tensors_[tensor];
  const std::size_t before = (rank % devices_) * std::size_t{each_} + rank / devices_;
  std::byte* const packet = of.parts.data() + before * of.bytes;
  return {packet, reinterpret_cast<float*>(packet + of.bytes - kAligned)};
}

kernels::DeviceExchange::Place ExchangedSteps::end(std::uint32_t tensor) const {
  return {stream_.get(), tensors_[tensor].parts.data()};
}

Result<void> ExchangedSteps::gathered(std::uint32_t tensor) {
  return stream_->record(*tensors_[tensor].gathered);
}

Result<void> ExchangedSteps::plan(std::uint32_t index, float* values,
                                  kernels::DeviceStream& stream) {
  Tensor& one = tensors_[index];
  if (one.update.count > 0) return {};
  std::vector<kernels::UpdateWork> work;
  kernels::UpdatedTensor updated{.elements = table_->tensors[index].count,
                                 .packets = one.sums ? nullptr : one.packets.data(),
                                 .sums = one.sums ? one.summed.data() : nullptr,
                                 // All ranks' trits stand for the same.
                                 .scaler = place(index, 0).scaler,
                                 .current = values,
                                 .next = values};
  kernels::set_slots(updated, one.slots.data(), slots());
  kernels::append_update(updated, work);
  STERNA_ASSIGN(one.work, kernels::uploaded<kernels::UpdateWork>(*device_, stream, work));
  one.update = {.work = one.work.data(),
                .count = static_cast<std::uint32_t>(work.size()),
                .ranks = job_.ranks,
                .rule = kernels::device_rule(job_.optimizer.name).value(),
                .from_sums = one.sums,
                .step = steps_.data() + index};
  return {};
}

Result<void> ExchangedSteps::step(nets::Net& net, std::uint32_t index, std::uint64_t step) {
  Tensor& one = tensors_[index];
  return net.update_parameter(
      index, [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
        STERNA_TRY(one.sent->wait());  // long ago, for the version before
        STERNA_TRY(plan(index, values, stream));
        kernels::DeviceStep& constants = steps_here_.elements()[index];
        const nets::ParameterSpec& spec = table_->tensors[index].spec;
        const kernels::UpdateOptions options = rule_.options_at(spec, step);
        std::ranges::copy(options.constants.value, constants.value);
        constants.weight_decay = options.weight_decay;
        STERNA_TRY(stream.copy(steps_.data() + index, &constants, sizeof(constants)));
        STERNA_TRY(stream.record(*one.sent));
        STERNA_TRY(stream.wait_for(*one.gathered));
        if (one.sums) STERNA_TRY(stream.sum_trits(one.sum));
        return stream.update(one.update);
      });
}

float* ExchangedSteps::slot_of(const TableChunk& chunk, std::size_t slot) const {
  return tensors_[chunk.tensor].slots.data() + slot * table_->tensors[chunk.tensor].count +
         chunk.first;
}

Result<void> ExchangedSteps::restore(nets::Net& net, std::uint32_t chunk, ByteView slots) {
  const TableChunk& place = table_->chunks[chunk];
  if (!has(place.tensor) || slots.empty()) return {};
  return net.update_parameter(
      place.tensor, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
        const std::size_t bytes = place.count * sizeof(float);
        for (std::size_t slot = 0; slot < this->slots(); ++slot) {
          STERNA_TRY(stream.copy(slot_of(place, slot), slots.data() + slot * bytes, bytes));
        }
        return stream.finish();
      });
}

Result<void> ExchangedSteps::read_slot(nets::Net& net, std::uint32_t chunk, std::size_t slot,
                                       std::span<float> out) {
  const TableChunk& place = table_->chunks[chunk];
  const float* const from = slot_of(place, slot);
  return net.update_parameter(place.tensor,
                              [&](kernels::DeviceStream& stream, float*) -> Result<void> {
                                STERNA_TRY(stream.copy(out.data(), from, out.size_bytes()));
                                return stream.finish();
                              });
}

}  // namespace sterna::actors
