#include "actors/encode/device_arithmetic.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/sums/bf16.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/statistics.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::PinnedArray;

namespace {

/// The bits, as fp32, of the least number that is infinite as a bf16.
constexpr std::uint32_t kFirstBeyondBf16 = 0x7F7F8000;

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
      payloads_(device_, table_->tensors.size()),
      floats_(device_, table_->tensors.size()),
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
    STERNA_ASSIGN(tensor.done, on.make_event(kernels::EventUse::host));
  }
  STERNA_TRY(made->lay_out());
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

PacketPlace DeviceArithmetic::place_of(std::uint32_t tensor) const {
  if (stays(tensor)) return places_(tensor, codec_of(table_->tensors[tensor].codec).packing);
  return {payload_.data() + payloads_.begin_of(tensor), scalers_.data() + tensors_[tensor].slot};
}

PacketPlace DeviceArithmetic::place_now(std::uint32_t tensor) const {
  return stays(tensor) ? places_(tensor, codec(tensor).packing) : place_of(tensor);
}

// ---- before the first step ----

Result<void> DeviceArithmetic::lay_out() {
  const bool floats = job_.gradient.floating_grad_epoch > 0;  // in some step
  std::vector<std::uint32_t> made_here;
  for (std::uint32_t t = 0; t < tensors_.size(); ++t) {
    if (table_->tensors[t].frozen) continue;
    if (passes(t)) made_here.push_back(t);
    const bool floats_go = floats && feeds_back(t) && !stays(t);
    if (plain(t) || floats_go) floats_.add(t, elements(t) * sizeof(float));
  }
  const auto codec = [&](std::uint32_t t) { return codec_of(table_->tensors[t].codec); };
  std::ranges::stable_sort(made_here, {}, [&](std::uint32_t t) {
    return std::tuple(stays(t), codec(t).ternary(), feeds_back(t));
  });
  bool sent = false;  // from where they come to
  for (std::uint32_t i = 0; i < made_here.size(); ++i) {
    const std::uint32_t t = made_here[i];
    tensors_[t].slot = i;
    if (stays(t)) continue;
    payloads_.add(t, bytes_made(codec(t), elements(t)));
    sent = sent || codec(t).seal == nullptr;
  }
  // Messages may still have those of the step before.
  STERNA_TRY(floats_.make(2));
  STERNA_TRY(payloads_.make(sent ? 2 : 1));
  if (made_here.empty()) return {};
  const std::size_t slots = made_here.size();
  STERNA_ASSIGN(payload_, DeviceArray<std::byte>::make(*device_, payloads_.bytes()));
  STERNA_ASSIGN(scalers_, DeviceArray<float>::make(*device_, slots));
  STERNA_ASSIGN(scalers_here_, PinnedArray<float>::make(*device_, slots));
  STERNA_ASSIGN(found_here_, PinnedArray<kernels::TensorMeasured>::make(*device_, slots));
  return {};
}

Result<void> DeviceArithmetic::expect(std::span<const Expected> gradients) {
  const bool floats = job_.gradient.floating_grad_epoch > 0;
  std::vector<std::vector<Expected>> plans;  // of distinct tensors each
  const auto plan = [&](const Expected& gradient) {
    const auto has = [&](const std::vector<Expected>& some) {
      return std::ranges::count(some, gradient.tensor, &Expected::tensor) > 0;
    };
    const auto lacks = std::ranges::find_if_not(plans, has);
    (lacks == plans.end() ? plans.emplace_back() : *lacks).push_back(gradient);
  };
  for (const Expected& gradient : gradients) {
    const std::uint32_t t = gradient.tensor;
    if (!stays(t) && !plain(t) && (!passes(t) || (floats && !feeds_back(t)))) {
      STERNA_TRY(make_values_here(t));
    }
    if (passes(t)) plan(gradient);
  }
  for (std::uint32_t t = 0; copies_ && job_.offers_scalers() && t < tensors_.size(); ++t) {
    const bool expected = std::ranges::count(gradients, t, &Expected::tensor) > 0;
    if (!expected || !passes(t) || feeds_back(t)) continue;
    if (!codec_of(table_->tensors[t].codec).ternary()) continue;
    STERNA_TRY(make_copy(t));
    plan({t, {tensors_[t].copy.data(), tensors_[t].copy.size()}});
  }
  for (const std::vector<Expected>& some : plans) STERNA_TRY(make_plans(some));
  return {};
}

Result<void> DeviceArithmetic::make_plans(std::span<const Expected> gradients) {
  std::vector<Expected> bf16s;
  std::vector<Expected> others;
  for (const Expected& gradient : gradients) {
    const GradientCodec codec = codec_of(table_->tensors[gradient.tensor].codec);
    (codec.packing == kernels::Packing::bf16 ? bf16s : others).push_back(gradient);
  }
  // Without a clip factor only what is not finite shows, however large the others are.
  if (!bf16s.empty()) STERNA_TRY(make_plan(bf16s, 0));
  return others.empty() ? Result<void>() : make_plan(others, clip());
}

Result<void> DeviceArithmetic::make_plan(std::vector<Expected>& gradients, float clip) {
  const auto slot = [&](const Expected& gradient) { return tensors_[gradient.tensor].slot; };
  std::ranges::sort(gradients, {}, slot);
  std::vector<kernels::EncodedTensor> all;
  for (const Expected& gradient : gradients) {
    const std::uint32_t t = gradient.tensor;
    const PacketPlace made_at = place_of(t);
    kernels::EncodedTensor& what = all.emplace_back();
    what = {.tensor = t,
            .elements = elements(t),
            .values = const_cast<float*>(gradient.place.data()),  // only read
            .planes = made_at.payload,
            .fed_back = feeds_back(t),
            .bf16 = codec_of(table_->tensors[t].codec).packing == kernels::Packing::bf16,
            .scaler = made_at.scaler};
    if (!what.fed_back) continue;
    STERNA_TRY(residuals_->expect(t));
    what.values = residuals_->there(t).data();
    what.incoming = gradient.place.data();
  }
  STERNA_ASSIGN(kernels::EncodePlan made,
                kernels::EncodePlan::make(*device_, *stream_, all, draw_.data(), clip));
  for (std::uint32_t i = 0; i < gradients.size(); ++i) {
    tensors_[gradients[i].tensor].rows.push_back(
        {gradients[i].place.data(), static_cast<std::uint32_t>(plans_.size()), i});
  }
  plans_.push_back(std::move(made));
  return {};
}

Result<DeviceArithmetic::Row> DeviceArithmetic::row_of(const Order& order) {
  const std::vector<Row>& rows = tensors_[order.tensor].rows;
  // What was kept of it then are the residual's sums, which all its rows are of.
  if (feeds_back(order.tensor) && order.kept) return rows.front();
  const float* const gradient = order.gradient.values.data();
  if (std::ranges::count(rows, gradient, &Row::gradient) == 0) {
    const Expected late{order.tensor, order.gradient.values};
    STERNA_TRY(make_plans({&late, 1}));
  }
  return *std::ranges::find(rows, gradient, &Row::gradient);
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

// ---- of a step ----

void DeviceArithmetic::begin(std::uint64_t step) {
  step_ = step;
  host_->begin(step);
  under_way_.clear();
  gathering_ = 0;
  payloads_.begin();
  floats_.begin();
  // Whoever began the step before has waited for all of it.
  *draw_here_.data() = {job_.seed, static_cast<std::uint32_t>(step), rank_};
  const Result<void> sent = draw_.upload(*stream_, draw_here_.elements());
  failed_ = sent ? std::nullopt : std::optional(sent.error());
}

Result<void> DeviceArithmetic::start(const Order& order, Listener& listener) {
  while (!under_way_.empty() && under_way_.front().done != nullptr && !failed_) {
    STERNA_ASSIGN(const bool passed, under_way_.front().done->passed());
    if (!passed) break;
    if (const Result<void> told = tell(listener); !told) failed_ = told.error();
  }
  const bool launched = here(order.tensor);
  if (!launched && order.kept) {
    STERNA_TRY(residuals_->land_all());  // its packet leaves at once, and may be the step's last
    Order on_host = order;
    // Where the residual's sums lie the host says only once it has taken the gradient in.
    on_host.gradient = host_->keep(order.tensor, order.gradient);
    return host_->start(on_host, listener);
  }
  if (order.gradient.complete != nullptr) STERNA_TRY(stream_->wait_for(*order.gradient.complete));
  if (!launched) return fetch(order);
  under_way_.push_back({order});
  return gathering_ > 0 ? Result<void>() : launch_ready();
}

Result<void> DeviceArithmetic::launch() {
  if (gathering_ > 0) --gathering_;
  return gathering_ > 0 ? Result<void>() : launch_ready();
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

Result<void> DeviceArithmetic::finish(Listener& listener) {
  STERNA_TRY(launch_ready());
  while (!under_way_.empty() && !failed_) {
    kernels::DeviceEvent& done = *under_way_.front().done;
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
  Order order = std::move(under_way_.front().order);
  under_way_.pop_front();
  const auto told = [&]() -> Result<void> {
    if (here(order.tensor)) return tell_here(order, listener);
    if (plain(order.tensor)) return pack(order.tensor, 1, listener);
    order.gradient = {tensors_[order.tensor].values_here.elements()};
    return host_->start(order, listener);
  }();
  if (told) return {};
  return Error(told.error()).in(table_->tensors[order.tensor].spec.name);
}

Result<void> DeviceArithmetic::tell_here(const Order& order, Listener& listener) {
  const kernels::TensorMeasured& found = found_here_.data()[tensors_[order.tensor].slot];
  const bool measured = order.measures || (!order.scalers && !fetched(order.tensor));
  if (measured) STERNA_TRY(check_finite(order, found));
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

Result<void> DeviceArithmetic::check_finite(const Order& order,
                                            const kernels::TensorMeasured& found) {
  const kernels::Packing packing = codec(order.tensor).packing;
  const bool numbers = stays(order.tensor) && packing != kernels::Packing::planes;
  const bool as_bf16 = numbers && packing == kernels::Packing::bf16;
  const bool passed = as_bf16 ? found.largest < kFirstBeyondBf16 : found.non_finite == 0;
  if (passed) return {};
  if (!numbers || order.measures || (as_bf16 && found.non_finite != 0)) {
    std::vector<float> values(order.gradient.values.size());
    STERNA_TRY(fetch_now(order.gradient.values.data(), std::span(values)));
    return kernels::non_finite(values);
  }
  // Of floats a scaler of trits need not be finite.
  std::vector<std::byte> made(kernels::packed_bytes(packing, elements(order.tensor)));
  STERNA_TRY(fetch_now(place_now(order.tensor).payload, std::span(made)));
  if (as_bf16) return kernels::check_bf16(made, elements(order.tensor));
  const std::span values(reinterpret_cast<const float*>(made.data()), elements(order.tensor));
  STERNA_TRY(kernels::scaler(values, 0, isa_));
  return {};
}

template <class T>
Result<void> DeviceArithmetic::fetch_now(const T* from, std::span<T> to) {
  STERNA_TRY(stream_->copy(to.data(), from, to.size_bytes()));
  return stream_->finish();
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
