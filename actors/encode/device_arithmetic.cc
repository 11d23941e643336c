#include "actors/encode/device_arithmetic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/trits/statistics.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::EncodePass;
using kernels::PinnedArray;

DeviceArithmetic::DeviceArithmetic(const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
                                   std::shared_ptr<const ParameterTable> table,
                                   std::shared_ptr<kernels::Device> device,
                                   std::unique_ptr<HostArithmetic> host, bool copies, Places places)
    : job_(job),
      rank_(rank),
      isa_(isa),
      table_(std::move(table)),
      device_(std::move(device)),
      host_(std::move(host)),
      copies_(copies),
      places_(std::move(places)),
      tensors_(table_->tensors.size()) {}

Result<std::unique_ptr<DeviceArithmetic>> DeviceArithmetic::make(
    const JobConfig& job, std::uint32_t rank, kernels::Isa isa,
    std::shared_ptr<const ParameterTable> table, std::shared_ptr<kernels::Device> device,
    std::unique_ptr<HostArithmetic> host, bool copies, Places places) {
  std::unique_ptr<DeviceArithmetic> made(new DeviceArithmetic(job, rank, isa, std::move(table),
                                                              std::move(device), std::move(host),
                                                              copies, std::move(places)));
  kernels::Device& on = *made->device_;
  STERNA_ASSIGN(made->stream_, on.make_stream());
  STERNA_ASSIGN(made->draw_, DeviceArray<kernels::StepOfRank>::make(on, 1));
  STERNA_ASSIGN(made->draw_here_, PinnedArray<kernels::StepOfRank>::make(on, 1));
  for (Tensor& tensor : made->tensors_) {
    STERNA_ASSIGN(tensor.done, on.make_event());
  }
  return made;
}

DeviceArithmetic::~DeviceArithmetic() {
  if (stream_) static_cast<void>(stream_->finish());
}

bool DeviceArithmetic::here(std::uint32_t tensor) const {
  if (stays(tensor)) return true;
  return codec(tensor).ternary() && !job_.gradient.buckets && !job_.gradient.error_feedback;
}

void DeviceArithmetic::begin(std::uint64_t step) {
  step_ = step;
  host_->begin(step);
  under_way_.clear();
  // Whoever began the step before has waited for all of it.
  *draw_here_.data() = {job_.seed, static_cast<std::uint32_t>(step), rank_};
  const Result<void> sent = draw_.upload(*stream_, draw_here_.elements());
  failed_ = sent ? std::nullopt : std::optional(sent.error());
}

// ---- to the device ----

Result<void> DeviceArithmetic::start(const Order& order, Listener& listener) {
  while (!under_way_.empty() && !failed_) {
    STERNA_ASSIGN(const bool passed, tensors_[under_way_.front().tensor].done->passed());
    if (!passed) break;
    if (const Result<void> told = tell(listener); !told) failed_ = told.error();
  }
  if (here(order.tensor)) return enqueue(order);
  if (order.kept) return host_->start(order, listener);
  return fetch(order);
}

Result<void> DeviceArithmetic::fetch(const Order& order) {
  Tensor& tensor = tensors_[order.tensor];
  if (tensor.values_here.elements().empty()) {
    STERNA_ASSIGN(tensor.values_here, PinnedArray<float>::make(*device_, elements(order.tensor)));
  }
  if (order.gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*order.gradient.complete));
  STERNA_TRY(stream_->copy(tensor.values_here.data(), order.gradient.values.data(),
                           order.gradient.values.size_bytes()));
  STERNA_TRY(stream_->record(*tensor.done));
  under_way_.push_back(order);
  return {};
}

Result<const kernels::EncodePlan*> DeviceArithmetic::plan_of(std::uint32_t index,
                                                             const nets::Gradient& gradient) {
  Tensor& tensor = tensors_[index];
  const float* const values = gradient.values.data();
  const auto known = std::ranges::find(tensor.plans, values, &Plan::values);
  if (known != tensor.plans.end()) return &known->tables;
  kernels::Device& on = *device_;
  if (tensor.plans.empty()) {
    if (!stays(index)) {
      const std::size_t bytes = kernels::planes_bytes(elements(index));
      STERNA_ASSIGN(tensor.planes, DeviceArray<std::byte>::make(on, bytes));
      STERNA_ASSIGN(tensor.planes_here, PinnedArray<std::byte>::make(on, bytes));
      STERNA_ASSIGN(tensor.scaler, DeviceArray<float>::make(on, 1));
    }
    STERNA_ASSIGN(tensor.scaler_here, PinnedArray<float>::make(on, 1));
    STERNA_ASSIGN(tensor.found_here, PinnedArray<kernels::TensorMeasured>::make(on, 1));
  }
  const PacketPlace place = place_of(index);
  const kernels::EncodedTensor what{.tensor = index,
                                    .elements = elements(index),
                                    .values = const_cast<float*>(values),  // only read
                                    .planes = place.payload,
                                    .scaler = place.scaler};
  STERNA_ASSIGN(kernels::EncodePlan made,
                kernels::EncodePlan::make(on, *stream_, {&what, 1}, draw_.data(),
                                          static_cast<float>(job_.gradient.clip)));
  return &tensor.plans.emplace_back(Plan{values, std::move(made)}).tables;
}

Result<void> DeviceArithmetic::enqueue(const Order& order) {
  STERNA_ASSIGN(const kernels::EncodePlan* const plan, plan_of(order.tensor, order.gradient));
  Tensor& tensor = tensors_[order.tensor];
  if (order.gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*order.gradient.complete));
  const PacketPlace place = place_of(order.tensor);
  if (!codec(order.tensor).ternary()) {
    // Only to see whether it is finite.
    STERNA_TRY(stream_->encode(EncodePass::measure, plan->launch()));
    STERNA_TRY(stream_->copy(place.payload, order.gradient.values.data(),
                             order.gradient.values.size_bytes()));
  } else if (order.scalers) {
    *tensor.scaler_here.data() = order.scalers->front();
    STERNA_TRY(stream_->copy(place.scaler, tensor.scaler_here.data(), sizeof(float)));
    const EncodePass pass =
        order.measures ? EncodePass::ternarize_and_measure : EncodePass::ternarize;
    STERNA_TRY(stream_->encode(pass, plan->launch()));
  } else {
    STERNA_TRY(stream_->encode(EncodePass::measure, plan->launch()));
    if (order.packs) {
      STERNA_TRY(stream_->copy(place.scaler, plan->scalers().data(), sizeof(float)));
      STERNA_TRY(stream_->encode(EncodePass::ternarize, plan->launch()));
    }
  }
  STERNA_TRY(plan->found().download(*stream_, tensor.found_here.elements()));
  if (order.packs && !stays(order.tensor)) {
    STERNA_TRY(tensor.planes.download(*stream_, tensor.planes_here.elements()));
  }
  STERNA_TRY(stream_->record(*tensor.done));
  under_way_.push_back(order);
  return {};
}

nets::Gradient DeviceArithmetic::keep(std::uint32_t index, const nets::Gradient& gradient) {
  Tensor& tensor = tensors_[index];
  if (!here(index)) return host_->keep(index, {tensor.values_here.elements()});
  if (!copies_) return {gradient.values};
  const auto copied = [&]() -> Result<void> {
    if (tensor.copy.size() == 0) {
      STERNA_ASSIGN(tensor.copy, DeviceArray<float>::make(*device_, elements(index)));
    }
    return stream_->copy(tensor.copy.data(), gradient.values.data(), gradient.values.size_bytes());
  }();
  if (!copied) failed_ = copied.error();
  return {{tensor.copy.data(), tensor.copy.size()}};
}

// ---- and back ----

Result<void> DeviceArithmetic::finish(Listener& listener) {
  while (!under_way_.empty() && !failed_) {
    STERNA_TRY(tensors_[under_way_.front().tensor].done->wait());
    STERNA_TRY(tell(listener));
  }
  if (failed_) return *failed_;
  return stream_->finish();  // copies of what is kept
}

Result<void> DeviceArithmetic::tell(Listener& listener) {
  Order order = std::move(under_way_.front());
  under_way_.pop_front();
  const auto told = [&]() -> Result<void> {
    if (here(order.tensor)) return tell_here(order, listener);
    order.gradient = {tensors_[order.tensor].values_here.elements()};
    return host_->start(order, listener);
  }();
  if (told) return {};
  return Error(told.error()).in(table_->tensors[order.tensor].spec.name);
}

Result<void> DeviceArithmetic::tell_here(const Order& order, Listener& listener) {
  const kernels::TensorMeasured& found = *tensors_[order.tensor].found_here.data();
  const bool measured = order.measures || !order.scalers;
  if (measured && found.non_finite != 0) return non_finite(order);
  const auto tell_measured = [&] {
    Listener::Measured own{.scalers = {found.scaler}};
    if (order.scalers) {
      own.elements = elements(order.tensor);
      own.saturated = found.saturated;
    }
    listener.measured(order.tensor, own);
  };
  if (order.measures && !order.scalers) tell_measured();
  if (order.packs) {
    const float scaler = order.scalers ? order.scalers->front() : found.scaler;
    if (stays(order.tensor)) {
      listener.packed(table_->tensors[order.tensor].first_chunk, scaler, {}, 0);
    } else {
      STERNA_TRY(pack(order.tensor, scaler, listener));
    }
  }
  if (order.measures && order.scalers) tell_measured();
  return {};
}

Result<void> DeviceArithmetic::pack(std::uint32_t index, float scaler, Listener& listener) {
  const TableTensor& tensor = table_->tensors[index];
  const GradientCodec codec = this->codec(index);
  const std::span chunks = std::span(table_->chunks).subspan(tensor.first_chunk, tensor.chunks);
  const ByteView planes = std::as_bytes(tensors_[index].planes_here.elements());
  std::size_t room = 0;
  for (const TableChunk& chunk : chunks) room += (codec.room({.count = chunk.count}) + 7) / 8 * 8;
  const std::shared_ptr<Buffer> buffer = pool_.take(room);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < tensor.chunks; ++i) {
    const std::size_t bytes = kernels::planes_bytes(chunks[i].count);
    const ByteView of_chunk = planes.subspan(kernels::planes_bytes(chunks[i].first), bytes);
    const MutableBytes free = buffer->bytes().subspan(at);
    std::size_t made = bytes;
    if (codec.seal == nullptr) {
      std::ranges::copy(of_chunk, free.begin());
    } else {
      made = codec.seal(of_chunk, {.count = chunks[i].count}, free, isa_);
    }
    listener.packed(tensor.first_chunk + i, scaler, Bytes(buffer, free.first(made)),
                    kernels::nonzero_trits(of_chunk, isa_));
    at += aligned(free, made);
  }
  return {};
}

Error DeviceArithmetic::non_finite(const Order& order) {
  std::vector<float> values(order.gradient.values.size());
  const std::size_t bytes = order.gradient.values.size_bytes();
  if (const auto sent = stream_->copy(values.data(), order.gradient.values.data(), bytes); !sent) {
    return sent.error();
  }
  if (const auto done = stream_->finish(); !done) return done.error();
  return kernels::non_finite(values);
}

}  // namespace sterna::actors
