#include "actors/encode/device_arithmetic.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/trits/scaler.h"
#include "kernels/trits/statistics.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::EncodePass;
using kernels::PinnedArray;

namespace {

/// Of so many elements, before they are sealed.
std::size_t bytes_made(const GradientCodec& codec, std::size_t elements) {
  return codec.ternary() ? kernels::planes_bytes(elements) : codec.room({.count = elements});
}

}  // namespace

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
  STERNA_ASSIGN(
      made->residuals_,
      DeviceResiduals::make(made->device_, made->host_->kept_residuals(), made->tensors_.size()));
  for (Tensor& tensor : made->tensors_) {
    STERNA_ASSIGN(tensor.done, on.make_event());
  }
  return made;
}

DeviceArithmetic::~DeviceArithmetic() {
  if (stream_) static_cast<void>(stream_->finish());
}

bool DeviceArithmetic::encodes(const GradientCodec& codec) const {
  return codec.ternary() ? !job_.gradient.buckets : codec.packing == kernels::Packing::bf16;
}

bool DeviceArithmetic::here(std::uint32_t tensor) const {
  return stays(tensor) || encodes(codec(tensor)) || feeds_back(tensor);
}

Result<void> DeviceArithmetic::expect(std::uint32_t index, std::span<const float> place) {
  const GradientCodec codec = codec_of(table_->tensors[index].codec);
  const bool passes = stays(index) || encodes(codec);
  const bool floats = job_.gradient.floating_grad_epoch > 0;  // in some step
  if (!stays(index) && (!passes || floats)) STERNA_TRY(make_values_here(index));
  if (!passes) return {};
  const bool fed_back = feeds_back(index);
  if (fed_back) STERNA_TRY(residuals_->expect(index));
  STERNA_TRY(plan_at(index, place));
  if (!copies_ || fed_back || !codec.ternary() || !job_.offers_scalers()) return {};
  STERNA_TRY(make_copy(index));
  STERNA_TRY(plan_at(index, {tensors_[index].copy.data(), tensors_[index].copy.size()}));
  return {};
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
  if (!order.kept) return fetch(order);
  STERNA_TRY(residuals_->land_all());  // its packet leaves at once, and may be the step's last
  Order on_host = order;
  // Where the residual's sums lie the host says only once it has taken the gradient in.
  on_host.gradient = host_->keep(order.tensor, order.gradient);
  return host_->start(on_host, listener);
}

Result<void> DeviceArithmetic::make_values_here(std::uint32_t index) {
  Tensor& tensor = tensors_[index];
  if (!tensor.values_here.elements().empty()) return {};
  STERNA_ASSIGN(tensor.values_here, PinnedArray<float>::make(*device_, elements(index)));
  return {};
}

Result<void> DeviceArithmetic::make_copy(std::uint32_t index) {
  Tensor& tensor = tensors_[index];
  if (tensor.copy.size() > 0) return {};
  STERNA_ASSIGN(tensor.copy, DeviceArray<float>::make(*device_, elements(index)));
  return {};
}

Result<void> DeviceArithmetic::fetch(const Order& order) {
  if (order.gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*order.gradient.complete));
  STERNA_TRY(fetch_values(order.tensor, order.gradient.values));
  STERNA_TRY(stream_->record(*tensors_[order.tensor].done));
  under_way_.push_back(order);
  return {};
}

Result<void> DeviceArithmetic::fetch_values(std::uint32_t index, std::span<const float> from) {
  STERNA_TRY(make_values_here(index));
  return stream_->copy(tensors_[index].values_here.data(), from.data(), from.size_bytes());
}

Result<void> DeviceArithmetic::make_places(std::uint32_t index) {
  Tensor& tensor = tensors_[index];
  kernels::Device& on = *device_;
  if (!stays(index)) {
    const GradientCodec codec = codec_of(table_->tensors[index].codec);
    const std::size_t bytes = bytes_made(codec, elements(index));
    STERNA_ASSIGN(tensor.payload, DeviceArray<std::byte>::make(on, bytes));
    STERNA_ASSIGN(tensor.payload_here, PinnedArray<std::byte>::make(on, bytes));
    STERNA_ASSIGN(tensor.scaler, DeviceArray<float>::make(on, 1));
  }
  STERNA_ASSIGN(tensor.scaler_here, PinnedArray<float>::make(on, 1));
  STERNA_ASSIGN(tensor.found_here, PinnedArray<kernels::TensorMeasured>::make(on, 1));
  return {};
}

Result<const kernels::EncodePlan*> DeviceArithmetic::plan_of(const Order& order) {
  // What was kept of it then are the residual's sums, which all its plans are of.
  if (feeds_back(order.tensor) && order.kept) return &tensors_[order.tensor].plans.front().tables;
  return plan_at(order.tensor, order.gradient.values);
}

Result<const kernels::EncodePlan*> DeviceArithmetic::plan_at(std::uint32_t index,
                                                             std::span<const float> place) {
  Tensor& tensor = tensors_[index];
  const float* const gradient = place.data();
  const auto known = std::ranges::find(tensor.plans, gradient, &Plan::gradient);
  if (known != tensor.plans.end()) return &known->tables;
  if (tensor.plans.empty()) STERNA_TRY(make_places(index));
  const PacketPlace made_at = place_of(index);
  const bool fed_back = feeds_back(index);
  const bool bf16 = codec_of(table_->tensors[index].codec).packing == kernels::Packing::bf16;
  kernels::EncodedTensor what{.tensor = index,
                              .elements = elements(index),
                              .values = const_cast<float*>(gradient),  // only read
                              .planes = made_at.payload,
                              .fed_back = fed_back,
                              .bf16 = bf16,
                              .scaler = made_at.scaler};
  if (fed_back) {
    what.values = residuals_->there(index).data();
    what.incoming = gradient;
  }
  // Without a clip factor only what is not finite shows, however large the others are.
  const float clip = bf16 ? 0 : this->clip();
  STERNA_ASSIGN(kernels::EncodePlan made,
                kernels::EncodePlan::make(*device_, *stream_, {&what, 1}, draw_.data(), clip));
  return &tensor.plans.emplace_back(Plan{gradient, std::move(made)}).tables;
}

Result<void> DeviceArithmetic::enqueue(const Order& order) {
  const bool fed_back = feeds_back(order.tensor);
  const bool takes_in = fed_back && !order.kept;
  if (takes_in) STERNA_TRY(residuals_->bring(order.tensor, *stream_));
  STERNA_ASSIGN(const kernels::EncodePlan* const plan, plan_of(order));
  Tensor& tensor = tensors_[order.tensor];
  if (order.gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*order.gradient.complete));
  if (takes_in) STERNA_TRY(stream_->encode(EncodePass::take_in, plan->launch()));
  STERNA_TRY(codec(order.tensor).ternary() ? put_trits(order, *plan) : put_numbers(order, *plan));
  STERNA_TRY(plan->found().download(*stream_, tensor.found_here.elements()));
  STERNA_TRY(stream_->record(*tensor.done));
  if (fed_back && order.packs) STERNA_TRY(residuals_->leave(order.tensor, *tensor.done));
  under_way_.push_back(order);
  return {};
}

Result<void> DeviceArithmetic::put_trits(const Order& order, const kernels::EncodePlan& plan) {
  Tensor& tensor = tensors_[order.tensor];
  float* const scaler = place_of(order.tensor).scaler;
  if (order.scalers) {
    *tensor.scaler_here.data() = order.scalers->front();
    STERNA_TRY(stream_->copy(scaler, tensor.scaler_here.data(), sizeof(float)));
    const EncodePass pass =
        order.measures ? EncodePass::ternarize_and_measure : EncodePass::ternarize;
    STERNA_TRY(stream_->encode(pass, plan.launch()));
  } else {
    STERNA_TRY(stream_->encode(EncodePass::measure, plan.launch()));
    if (!order.packs) return {};
    STERNA_TRY(stream_->copy(scaler, plan.scalers().data(), sizeof(float)));
    STERNA_TRY(stream_->encode(EncodePass::ternarize, plan.launch()));
  }
  if (feeds_back(order.tensor)) {
    STERNA_TRY(stream_->encode(EncodePass::keep_error, plan.launch()));
  }
  if (stays(order.tensor)) return feeds_back(order.tensor) ? put_fed_back(scaler) : Result<void>();
  return tensor.payload.download(*stream_, tensor.payload_here.elements());
}

/// What a packet that stays on the device stands for is read there by who steps: the bits of
/// fed_back_scaler().
Result<void> DeviceArithmetic::put_fed_back(float* scaler) {
  if (clip() <= 1) return {};
  return stream_->layer(kernels::ElementLaunch{.pass = kernels::ElementPass::divide,
                                               .a = scaler,
                                               .out = scaler,
                                               .count = 1,
                                               .factor = clip()});
}

/// bf16s, or all 32 bits: of what stays on the device, or of a step in which that travels as fp32
/// of which something is left.
Result<void> DeviceArithmetic::put_numbers(const Order& order, const kernels::EncodePlan& plan) {
  Tensor& tensor = tensors_[order.tensor];
  const std::span<const float> gradient = order.gradient.values;
  STERNA_TRY(stream_->encode(EncodePass::measure, plan.launch()));
  if (stays(order.tensor)) {
    return stream_->copy(place_of(order.tensor).payload, gradient.data(), gradient.size_bytes());
  }
  if (codec(order.tensor).packing == kernels::Packing::bf16) {
    STERNA_TRY(stream_->encode_bf16(plan.launch()));
    return tensor.payload.download(*stream_, tensor.payload_here.elements());
  }
  const std::span<float> sums = residuals_->there(order.tensor);
  STERNA_TRY(fetch_values(order.tensor, sums));
  return stream_->layer(kernels::ElementLaunch{
      .pass = kernels::ElementPass::clear, .out = sums.data(), .count = sums.size()});
}

nets::Gradient DeviceArithmetic::keep(std::uint32_t index, const nets::Gradient& gradient) {
  Tensor& tensor = tensors_[index];
  if (!here(index)) return host_->keep(index, {tensor.values_here.elements()});
  if (feeds_back(index)) return {residuals_->there(index)};
  if (!copies_) return {gradient.values};
  const auto copied = [&]() -> Result<void> {
    STERNA_TRY(make_copy(index));
    return stream_->copy(tensor.copy.data(), gradient.values.data(), gradient.values.size_bytes());
  }();
  if (!copied) failed_ = copied.error();
  return {{tensor.copy.data(), tensor.copy.size()}};
}

// ---- and back ----

Result<void> DeviceArithmetic::finish(Listener& listener) {
  while (!under_way_.empty() && !failed_) {
    kernels::DeviceEvent& done = *tensors_[under_way_.front().tensor].done;
    // Whoever has the step's last packet may go on behind this step.
    STERNA_TRY(under_way_.size() == 1 ? residuals_->land_all() : land_before(done));
    STERNA_TRY(done.wait());
    STERNA_TRY(tell(listener));
  }
  if (failed_) return *failed_;
  return stream_->finish();  // copies of what is kept
}

Result<void> DeviceArithmetic::land_before(kernels::DeviceEvent& passes) {
  for (bool landed = true; landed;) {
    STERNA_ASSIGN(const bool passed, passes.passed());
    if (passed) break;
    STERNA_ASSIGN(landed, residuals_->land_one());
  }
  return {};
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
  const bool measured = order.measures || (!order.scalers && !fetched(order.tensor));
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
      if (!job_.in_step()) STERNA_TRY(residuals_->land(order.tensor));
      STERNA_TRY(pack(order.tensor, scaler, listener));
    }
  }
  if (order.measures && order.scalers) tell_measured();
  return {};
}

ByteView DeviceArithmetic::made_of(std::uint32_t tensor) const {
  if (fetched(tensor)) return std::as_bytes(tensors_[tensor].values_here.elements());
  return std::as_bytes(tensors_[tensor].payload_here.elements());
}

Result<void> DeviceArithmetic::pack(std::uint32_t index, float scaler, Listener& listener) {
  const TableTensor& tensor = table_->tensors[index];
  const GradientCodec codec = this->codec(index);
  const std::span<const TableChunk> chunks = table_->chunks_of(tensor);
  const ByteView all = made_of(index);
  if (fetched(index)) STERNA_TRY(kernels::scaler(tensors_[index].values_here.elements(), 0, isa_));
  float stands_for = 1;  // of numbers
  if (codec.ternary()) {
    stands_for = feeds_back(index) ? kernels::fed_back_scaler(scaler, clip()) : scaler;
  }
  std::size_t room = 0;
  for (const TableChunk& chunk : chunks) room += (codec.room({.count = chunk.count}) + 7) / 8 * 8;
  const std::shared_ptr<Buffer> buffer = pool_.take(room);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < tensor.chunks; ++i) {
    const std::size_t bytes = bytes_made(codec, chunks[i].count);
    const ByteView of_chunk = all.subspan(bytes_made(codec, chunks[i].first), bytes);
    const MutableBytes free = buffer->bytes().subspan(at);
    std::size_t made = bytes;
    if (codec.seal == nullptr) {
      std::ranges::copy(of_chunk, free.begin());
    } else {
      made = codec.seal(of_chunk, {.count = chunks[i].count}, free, isa_);
    }
    const Bytes payload(buffer, free.first(made));
    const bool tells = host_->tells_what_is_sent();
    Bytes numbers;
    if ((feeds_back(index) || tells) && !codec.ternary()) {
      // Of what was rounded to infinity nothing is left.
      STERNA_ASSIGN(numbers, codec.open(payload, {.count = chunks[i].count}, pool_, isa_));
    }
    if (tells) {
      const ByteView opened = codec.ternary() ? of_chunk : numbers.view();
      host_->tell_sent(chunks[i], {codec.packing, stands_for, opened});
    }
    listener.packed(tensor.first_chunk + i, stands_for, payload,
                    codec.ternary() ? kernels::nonzero_trits(of_chunk, isa_) : 0);
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

// ---- between steps ----

Result<std::vector<std::vector<float>>> DeviceArithmetic::residuals() {
  STERNA_TRY(residuals_->fetch_all());
  return host_->residuals();
}

void DeviceArithmetic::restore(const std::vector<std::vector<float>>& residuals) {
  host_->restore(residuals);
  residuals_->renew_all();
}

Result<void> DeviceArithmetic::give_back(const Packet& packet) {
  const std::uint32_t tensor = table_->chunks[packet.chunk].tensor;
  STERNA_TRY(residuals_->fetch(tensor));
  residuals_->renew(tensor);
  return host_->give_back(packet);
}

void DeviceArithmetic::settle(std::span<const std::uint32_t> repeated) {
  host_->settle(repeated);
  // In memory of the worker's own nothing lies that another one has left.
  if (host_->kept_residuals().outlive_worker()) residuals_->renew_all();
}

}  // namespace sterna::actors
