#include "actors/worker/exchanged_steps.h"

#include <algorithm>
#include <utility>

#include "actors/codecs/codec.h"
#include "kernels/device/tables.h"
#include "kernels/optimizer/moving_average.h"
#include "kernels/sums/sums.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

namespace {

/// Planes and fp32 are read 16 bytes at a time; the scaler has as many to itself.
constexpr std::size_t kAligned = 16;

std::size_t aligned(std::size_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

std::size_t payload_bytes(const TableTensor& tensor) {
  return aligned(codec_of(tensor.codec).ternary() ? kernels::planes_bytes(tensor.count)
                                                  : tensor.count * sizeof(float));
}

}  // namespace

ExchangedSteps::ExchangedSteps(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
                               const UpdateRule& rule, std::shared_ptr<kernels::Device> device,
                               std::uint32_t number, std::uint32_t devices)
    : job_(job),
      table_(std::move(table)),
      rule_(rule),
      device_(std::move(device)),
      number_(number),
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
    std::shared_ptr<kernels::Device> device, std::uint32_t number, std::uint32_t devices,
    nets::Net& net) {
  std::unique_ptr<ExchangedSteps> made(
      new ExchangedSteps(job, std::move(table), rule, std::move(device), number, devices));
  kernels::Device& on = *made->device_;
  STERNA_ASSIGN(made->stream_, on.make_stream());
  const std::size_t tensors = made->tensors_.size();
  STERNA_ASSIGN(made->steps_, DeviceArray<kernels::DeviceStep>::make(on, tensors));
  STERNA_ASSIGN(made->steps_here_, PinnedArray<kernels::DeviceStep>::make(on, tensors));
  for (std::uint32_t tensor = 0; tensor < tensors; ++tensor) {
    const TableTensor& place = made->table_->tensors[tensor];
    if (place.frozen || place.spec.role == nets::Role::statistic) continue;
    STERNA_TRY(made->make_tensor(tensor));
    STERNA_TRY(net.update_parameter(tensor, [&](kernels::DeviceStream& stream, float* values) {
      return made->plan(tensor, values, stream);
    }));
  }
  return made;
}

Result<void> ExchangedSteps::make_tensor(std::uint32_t index) {
  const TableTensor& place = table_->tensors[index];
  Tensor& made = tensors_[index];
  kernels::Device& on = *device_;
  const bool ternary = codec_of(place.codec).ternary();
  const bool by_slices = !ternary && devices_ > 1;
  made.sums = ternary && job_.shares_scalers();
  if (by_slices) made.slice = aligned((payload_bytes(place) + devices_ - 1) / devices_);
  made.bytes = (by_slices ? made.slice * devices_ : payload_bytes(place)) + kAligned;
  STERNA_ASSIGN(made.parts,
                DeviceArray<std::byte>::make(on, made.bytes * each_ * (by_slices ? 1 : devices_)));
  STERNA_ASSIGN(made.gathered, on.make_event());
  STERNA_ASSIGN(made.sent, on.make_event());
  if (by_slices) {
    const std::size_t theirs = std::size_t{devices_ - 1} * each_ * made.slice;
    STERNA_ASSIGN(made.slices, DeviceArray<std::byte>::make(on, theirs));
  }
  std::vector<kernels::DevicePacket> packets;
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    if (by_slices) {
      packets.push_back({slice_of(made, rank), nullptr, kernels::Packing::fp32});
      continue;
    }
    const PacketPlace of_rank = this->place(index, rank);
    packets.push_back({of_rank.payload, of_rank.scaler,
                       ternary ? kernels::Packing::planes : kernels::Packing::fp32});
  }
  STERNA_ASSIGN(made.packets, kernels::uploaded<kernels::DevicePacket>(on, *stream_, packets));
  if (by_slices) STERNA_TRY(make_slices(index));
  if (made.sums) {
    STERNA_ASSIGN(made.summed,
                  DeviceArray<std::byte>::make(on, kernels::sum_bytes(place.count, job_.ranks)));
    std::vector<kernels::SumWork> work;
    kernels::append_sums(made.packets.data(), place.count, job_.ranks, made.summed.data(), work);
    STERNA_ASSIGN(made.sum_work, kernels::uploaded<kernels::SumWork>(on, *stream_, work));
    made.sum = {made.sum_work.data(), static_cast<std::uint32_t>(work.size()), job_.ranks};
  }
  if (keeps_averages()) {
    STERNA_ASSIGN(made.average, DeviceArray<float>::make(on, place.count));
  }
  if (rule_.slots().empty()) return {};
  const std::vector<float> start = rule_.initial_slots(place.count);
  STERNA_ASSIGN(made.slots, kernels::uploaded<float>(on, *stream_, start));
  return {};
}

Result<void> ExchangedSteps::make_slices(std::uint32_t index) {
  Tensor& made = tensors_[index];
  kernels::Device& on = *device_;
  const std::size_t each = made.slice / sizeof(float);
  const std::size_t first = std::min(number_ * each, table_->tensors[index].count);
  std::vector<kernels::UpdateWork> work;
  kernels::append_update(
      {.elements = std::min(each, table_->tensors[index].count - first),
       .packets = made.packets.data(),
       .next = reinterpret_cast<float*>(made.parts.data() + number_ * made.slice)},
      work);
  STERNA_ASSIGN(made.slice_work, kernels::uploaded<kernels::UpdateWork>(on, *stream_, work));
  made.slice_sum = {.work = made.slice_work.data(),
                    .count = static_cast<std::uint32_t>(work.size()),
                    .ranks = job_.ranks,
                    .rule = kernels::DeviceRule::average,
                    .divisor = 1};
  const kernels::DevicePacket sum{made.parts.data(), nullptr, kernels::Packing::fp32};
  STERNA_ASSIGN(made.summed_slices,
                kernels::uploaded<kernels::DevicePacket>(on, *stream_, {&sum, 1}));
  return {};
}

PacketPlace ExchangedSteps::place(std::uint32_t tensor, std::uint32_t rank) const {
  const Tensor& of = tensors_[tensor];
  const std::size_t part = of.slice > 0 ? 0 : (rank % devices_) * std::size_t{each_};
  std::byte* const packet = of.parts.data() + (part + rank / devices_) * of.bytes;
  return {packet, reinterpret_cast<float*>(packet + of.bytes - kAligned)};
}

std::byte* ExchangedSteps::slice_of(const Tensor& tensor, std::uint32_t rank) const {
  const std::uint32_t device = rank % devices_;
  const std::size_t turn = rank / devices_;
  if (device == number_) return tensor.parts.data() + turn * tensor.bytes + number_ * tensor.slice;
  const std::size_t before = kernels::DeviceExchange::place_of(device, number_) * each_ + turn;
  return tensor.slices.data() + before * tensor.slice;
}

Result<void> ExchangedSteps::exchange(std::span<ExchangedSteps* const> all,
                                      kernels::DeviceExchange& by, std::uint32_t tensor) {
  const ExchangedSteps& first = *all.front();
  const std::size_t slice = first.tensors_[tensor].slice;
  const std::size_t bytes = first.tensors_[tensor].bytes;
  std::vector<kernels::DeviceExchange::Scattered> scattered;
  std::vector<kernels::DeviceExchange::Place> places;
  for (const ExchangedSteps* const one : all) {
    const Tensor& of = one->tensors_[tensor];
    scattered.push_back({one->stream_.get(), of.parts.data(), of.slices.data()});
    places.push_back({one->stream_.get(), of.parts.data()});
  }
  if (slice > 0) {
    STERNA_TRY(by.scatter(scattered, {first.each_, bytes, slice}));
    for (const ExchangedSteps* const one : all) {
      STERNA_TRY(one->stream_->update(one->tensors_[tensor].slice_sum));
    }
  }
  STERNA_TRY(by.gather(places, slice > 0 ? slice : bytes * first.each_));
  for (const ExchangedSteps* const one : all) {
    STERNA_TRY(one->stream_->record(*one->tensors_[tensor].gathered));
  }
  return {};
}

Result<void> ExchangedSteps::plan(std::uint32_t index, float* values,
                                  kernels::DeviceStream& stream) {
  Tensor& one = tensors_[index];
  std::vector<kernels::UpdateWork> work;
  kernels::UpdatedTensor updated{.elements = table_->tensors[index].count,
                                 .packets = one.sums        ? nullptr
                                            : one.slice > 0 ? one.summed_slices.data()
                                                            : one.packets.data(),
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
                .ranks = one.slice > 0 ? 1 : job_.ranks,
                .rule = kernels::device_rule(job_.optimizer.name).value(),
                .from_sums = one.sums,
                .step = steps_.data() + index,
                .divisor = job_.ranks};
  return {};
}

Result<void> ExchangedSteps::step(nets::Net& net, std::uint32_t index, std::uint64_t step) {
  Tensor& one = tensors_[index];
  const auto put = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    STERNA_TRY(one.sent->wait());  // long ago, for the version before
    kernels::DeviceStep& constants = steps_here_.elements()[index];
    constants = kernels::device_step(rule_.options_at(table_->tensors[index].spec, step));
    STERNA_TRY(stream.copy(steps_.data() + index, &constants, sizeof(constants)));
    STERNA_TRY(stream.record(*one.sent));
    STERNA_TRY(stream.wait_for(*one.gathered));
    if (one.sums) STERNA_TRY(stream.sum_trits(one.sum));
    STERNA_TRY(stream.update(one.update));
    if (!keeps_averages()) return {};
    return stream.layer(kernels::ElementLaunch{
        .pass = kernels::ElementPass::move,
        .a = one.average.data(),
        .b = values,
        .out = one.average.data(),
        .count = one.average.size(),
        .factor = kernels::average_part(job_.optimizer.average_decay, step)});
  };
  return net.update_parameter(index, put);
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

Result<void> ExchangedSteps::read(nets::Net& net, std::uint32_t tensor, const float* from,
                                  std::span<float> out) {
  return net.update_parameter(tensor, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
    STERNA_TRY(stream.copy(out.data(), from, out.size_bytes()));
    return stream.finish();
  });
}

Result<void> ExchangedSteps::read_slot(nets::Net& net, std::uint32_t chunk, std::size_t slot,
                                       std::span<float> out) {
  const TableChunk& place = table_->chunks[chunk];
  return read(net, place.tensor, slot_of(place, slot), out);
}

Result<void> ExchangedSteps::set_average(nets::Net& net, std::uint32_t chunk,
                                         std::span<const float> values) {
  const TableChunk& place = table_->chunks[chunk];
  float* const to = tensors_[place.tensor].average.data() + place.first;
  return net.update_parameter(place.tensor,
                              [&](kernels::DeviceStream& stream, float*) -> Result<void> {
                                STERNA_TRY(stream.copy(to, values.data(), values.size_bytes()));
                                return stream.finish();
                              });
}

Result<void> ExchangedSteps::read_average(nets::Net& net, std::uint32_t chunk,
                                          std::span<float> out) {
  const TableChunk& place = table_->chunks[chunk];
  return read(net, place.tensor, tensors_[place.tensor].average.data() + place.first, out);
}

}  // namespace sterna::actors
