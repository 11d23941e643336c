#include "actors/worker/ranks/exchanged_steps.h"

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
constexpr kernels::Packing kFloats = kernels::Packing::fp32;

std::size_t aligned(std::size_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

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
    STERNA_TRY(net.update_parameter(
        tensor, [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
          Tensor& planned = made->tensors_[tensor];
          STERNA_TRY(made->plan(tensor, planned.by_codec, values, stream));
          if (planned.as_floats.bytes == 0) return {};
          return made->plan(tensor, planned.as_floats, values, stream);
        }));
  }
  return made;
}

Result<void> ExchangedSteps::make_tensor(std::uint32_t index) {
  const TableTensor& place = table_->tensors[index];
  Tensor& made = tensors_[index];
  kernels::Device& on = *device_;
  const kernels::Packing packing = codec_of(place.codec).packing;
  const bool floats_too = job_.gradient.floating_grad_epoch > 0 && packing != kFloats;
  std::size_t bytes = lay_out(made.by_codec, place.count, packing);
  if (floats_too) bytes = std::max(bytes, lay_out(made.as_floats, place.count, kFloats));
  STERNA_ASSIGN(made.parts, DeviceArray<std::byte>::make(on, bytes));
  STERNA_ASSIGN(made.gathered, on.make_event(kernels::EventUse::streams));
  STERNA_ASSIGN(made.sent, on.make_event(kernels::EventUse::host));
  for (Way* const way : {&made.by_codec, &made.as_floats}) {
    way->parts = made.parts.data();
    if (way->bytes > 0) STERNA_TRY(make_way(*way, place.count));
  }
  if (keeps_averages()) {
    STERNA_ASSIGN(made.average, DeviceArray<float>::make(on, place.count));
  }
  if (rule_.slots().empty()) return {};
  const std::vector<float> start = rule_.initial_slots(place.count);
  STERNA_ASSIGN(made.slots, kernels::uploaded<float>(on, *stream_, start));
  return {};
}

std::size_t ExchangedSteps::lay_out(Way& way, std::size_t elements,
                                    kernels::Packing packing) const {
  const std::size_t payload = aligned(kernels::packed_bytes(packing, elements));
  const bool by_slices = packing == kFloats && devices_ > 1;
  way.packing = packing;
  way.sums = packing == kernels::Packing::planes && job_.shares_scalers() &&
             job_.scheme.combine == CombineRule::mean;
  if (by_slices) way.slice = aligned((payload + devices_ - 1) / devices_);
  way.bytes = (by_slices ? way.slice * devices_ : payload) + kAligned;
  return way.bytes * each_ * (by_slices ? 1 : devices_);
}

Result<void> ExchangedSteps::make_way(Way& way, std::size_t elements) {
  kernels::Device& on = *device_;
  if (way.slice > 0) {
    const std::size_t theirs = std::size_t{devices_ - 1} * each_ * way.slice;
    STERNA_ASSIGN(way.slices, DeviceArray<std::byte>::make(on, theirs));
  }
  std::vector<kernels::DevicePacket> packets;
  for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
    if (way.slice > 0) {
      packets.push_back({slice_of(way, rank), nullptr, way.packing});
      continue;
    }
    const PacketPlace of_rank = place_of(way, rank);
    packets.push_back({of_rank.payload, of_rank.scaler, way.packing});
  }
  STERNA_ASSIGN(way.packets, kernels::uploaded<kernels::DevicePacket>(on, *stream_, packets));
  if (way.slice > 0) return make_slices(way, elements);
  if (!way.sums) return {};
  STERNA_ASSIGN(way.summed,
                DeviceArray<std::byte>::make(on, kernels::sum_bytes(elements, job_.ranks)));
  std::vector<kernels::SumWork> work;
  kernels::append_sums(way.packets.data(), elements, job_.ranks, way.summed.data(), work);
  STERNA_ASSIGN(way.sum_work, kernels::uploaded<kernels::SumWork>(on, *stream_, work));
  way.sum = {way.sum_work.data(), static_cast<std::uint32_t>(work.size()), job_.ranks};
  return {};
}

Result<void> ExchangedSteps::make_slices(Way& way, std::size_t elements) {
  kernels::Device& on = *device_;
  const std::size_t each = way.slice / sizeof(float);
  const std::size_t first = std::min(number_ * each, elements);
  std::vector<kernels::UpdateWork> work;
  kernels::append_update({.elements = std::min(each, elements - first),
                          .packets = way.packets.data(),
                          .next = reinterpret_cast<float*>(way.parts + number_ * way.slice)},
                         work);
  STERNA_ASSIGN(way.slice_work, kernels::uploaded<kernels::UpdateWork>(on, *stream_, work));
  way.slice_sum = {.work = way.slice_work.data(),
                   .count = static_cast<std::uint32_t>(work.size()),
                   .ranks = job_.ranks,
                   .rule = kernels::DeviceRule::average,
                   .divisor = 1};
  const kernels::DevicePacket sum{way.parts, nullptr, kFloats};
  STERNA_ASSIGN(way.summed_slices,
                kernels::uploaded<kernels::DevicePacket>(on, *stream_, {&sum, 1}));
  return {};
}

const ExchangedSteps::Way& ExchangedSteps::way_of(std::uint32_t tensor,
                                                  kernels::Packing packing) const {
  const Tensor& of = tensors_[tensor];
  return packing == of.by_codec.packing ? of.by_codec : of.as_floats;
}

const ExchangedSteps::Way& ExchangedSteps::way_at(std::uint32_t tensor, std::uint64_t step) const {
  return way_of(tensor, codec_of(table_->codec_at(tensor, job_, step)).packing);
}

PacketPlace ExchangedSteps::place(std::uint32_t tensor, std::uint32_t rank,
                                  kernels::Packing packing) const {
  return place_of(way_of(tensor, packing), rank);
}

PacketPlace ExchangedSteps::place_of(const Way& way, std::uint32_t rank) const {
  const std::size_t part = way.slice > 0 ? 0 : (rank % devices_) * std::size_t{each_};
  std::byte* const packet = way.parts + (part + rank / devices_) * way.bytes;
  return {packet, reinterpret_cast<float*>(packet + way.bytes - kAligned)};
}

std::byte* ExchangedSteps::slice_of(const Way& way, std::uint32_t rank) const {
  const std::uint32_t device = rank % devices_;
  const std::size_t turn = rank / devices_;
  if (device == number_) return way.parts + turn * way.bytes + number_ * way.slice;
  const std::size_t before = kernels::DeviceExchange::place_of(device, number_) * each_ + turn;
  return way.slices.data() + before * way.slice;
}

Result<void> ExchangedSteps::exchange(std::span<ExchangedSteps* const> all,
                                      kernels::DeviceExchange& by, std::uint32_t tensor,
                                      std::uint64_t step) {
  const ExchangedSteps& first = *all.front();
  const std::size_t slice = first.way_at(tensor, step).slice;
  const std::size_t bytes = first.way_at(tensor, step).bytes;
  std::vector<kernels::DeviceExchange::Scattered> scattered;
  std::vector<kernels::DeviceExchange::Place> places;
  for (const ExchangedSteps* const one : all) {
    const Way& way = one->way_at(tensor, step);
    scattered.push_back({one->stream_.get(), way.parts, way.slices.data()});
    places.push_back({one->stream_.get(), way.parts});
  }
  if (slice > 0) {
    STERNA_TRY(by.scatter(scattered, {first.each_, bytes, slice}));
    for (const ExchangedSteps* const one : all) {
      STERNA_TRY(one->stream_->update(one->way_at(tensor, step).slice_sum));
    }
  }
  STERNA_TRY(by.gather(places, slice > 0 ? slice : bytes * first.each_));
  for (const ExchangedSteps* const one : all) {
    STERNA_TRY(one->stream_->record(*one->tensors_[tensor].gathered));
  }
  return {};
}

Result<void> ExchangedSteps::plan(std::uint32_t index, Way& way, float* values,
                                  kernels::DeviceStream& stream) {
  std::vector<kernels::UpdateWork> work;
  kernels::UpdatedTensor updated{.elements = table_->tensors[index].count,
                                 .packets = way.sums        ? nullptr
                                            : way.slice > 0 ? way.summed_slices.data()
                                                            : way.packets.data(),
                                 .sums = way.sums ? way.summed.data() : nullptr,
                                 // All ranks' trits stand for the same.
                                 .scaler = place_of(way, 0).scaler,
                                 .current = values,
                                 .next = values};
  kernels::set_slots(updated, tensors_[index].slots.data(), slots());
  kernels::append_update(updated, work);
  STERNA_ASSIGN(way.work, kernels::uploaded<kernels::UpdateWork>(*device_, stream, work));
  const bool added_up = job_.scheme.combine == CombineRule::sum;
  way.update = {.work = way.work.data(),
                .count = static_cast<std::uint32_t>(work.size()),
                .ranks = way.slice > 0 ? 1 : job_.ranks,
                .rule = kernels::device_rule(job_.optimizer.name).value(),
                .from_sums = way.sums,
                .step = steps_.data() + index,
                .divisor = added_up ? 1 : job_.ranks};
  return {};
}

Result<void> ExchangedSteps::step(nets::Net& net, std::uint32_t index, std::uint64_t step) {
  const Tensor& one = tensors_[index];
  const Way& way = way_at(index, step);
  const auto put = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
    STERNA_TRY(one.sent->wait());  // long ago, for the version before
    kernels::DeviceStep& constants = steps_here_.elements()[index];
    constants = kernels::device_step(rule_.options_at(table_->tensors[index].spec, step));
    STERNA_TRY(stream.copy(steps_.data() + index, &constants, sizeof(constants)));
    STERNA_TRY(stream.record(*one.sent));
    STERNA_TRY(stream.wait_for(*one.gathered));
    if (way.sums) STERNA_TRY(stream.sum_trits(way.sum));
    STERNA_TRY(stream.update(way.update));
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
