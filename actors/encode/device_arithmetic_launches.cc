// DeviceArithmetic: what is put on the stream, for gradients that were given at once together.
#include <algorithm>
#include <tuple>

#include "actors/encode/device_arithmetic.h"

namespace sterna::actors {

using kernels::EncodePass;

DeviceArithmetic::Passes DeviceArithmetic::passes_of(const Order& order) const {
  const GradientCodec codec = this->codec(order.tensor);
  const bool fed_back = feeds_back(order.tensor);
  return {.ternary = codec.ternary(),
          .floats = codec.packing == kernels::Packing::fp32,
          .takes_in = fed_back && !order.kept,
          .feeds_back = fed_back,
          .given = order.scalers.has_value(),
          .measures = order.measures,
          .packs = order.packs,
          .stays = stays(order.tensor)};
}

Result<void> DeviceArithmetic::launch_ready() {
  std::vector<Ready> ready;
  Result<void> launched = [&]() -> Result<void> {
    for (std::size_t turn = 0; turn < under_way_.size(); ++turn) {
      UnderWay& one = under_way_[turn];
      if (one.done != nullptr) continue;
      STERNA_ASSIGN(const Row row, row_of(one.order));
      ready.push_back({&one, turn, row.plan, row.index, passes_of(one.order)});
    }
    return launch_all(ready);
  }();
  if (!launched) std::erase_if(under_way_, [](const UnderWay& one) { return one.done == nullptr; });
  return launched;
}

/// Whether a launch serves both, and what is copied of both is one piece.
bool DeviceArithmetic::side_by_side(const Ready& one, const Ready& next) const {
  return one.plan == next.plan && one.passes == next.passes && one.row + 1 == next.row &&
         tensors_[one.tensor()].slot + 1 == tensors_[next.tensor()].slot;
}

Result<void> DeviceArithmetic::launch_all(std::vector<Ready>& ready) {
  std::ranges::sort(ready, {},
                    [](const Ready& one) { return std::tuple(one.plan, one.passes, one.row); });
  for (std::size_t first = 0, behind = 0; first < ready.size(); first = behind) {
    behind = first + 1;
    while (behind < ready.size() && side_by_side(ready[behind - 1], ready[behind])) ++behind;
    STERNA_TRY(launch_run(Run(ready).subspan(first, behind - first)));
  }
  return {};
}

Result<void> DeviceArithmetic::launch_run(Run run) {
  const kernels::EncodePlan& plan = plans_[run.front().plan];
  const Passes& passes = run.front().passes;
  if (passes.takes_in) {
    for (const Ready& one : run) STERNA_TRY(residuals_->bring(one.tensor(), *stream_));
    STERNA_TRY(stream_->encode(EncodePass::take_in, plan.launch(run.front().row, run.size())));
  }
  STERNA_TRY(passes.ternary ? put_trits(run) : put_numbers(run));
  STERNA_TRY(stream_->copy(found_here_.data() + tensors_[run.front().tensor()].slot,
                           plan.found().data() + run.front().row,
                           run.size() * sizeof(kernels::TensorMeasured)));
  // Until the last of them is told of, the event is recorded for nobody else.
  const Ready& last = *std::ranges::max_element(run, {}, &Ready::turn);
  kernels::DeviceEvent& done = *tensors_[last.tensor()].done;
  STERNA_TRY(stream_->record(done));
  for (const Ready& one : run) {
    one.of->done = &done;
    if (passes.feeds_back && passes.packs) STERNA_TRY(residuals_->leave(one.tensor(), done));
  }
  return {};
}

Result<void> DeviceArithmetic::put_trits(Run run) {
  const kernels::EncodePlan& plan = plans_[run.front().plan];
  const kernels::EncodeLaunch launch = plan.launch(run.front().row, run.size());
  const Passes& passes = run.front().passes;
  if (passes.given) {
    float* const from = scalers_here_.data() + tensors_[run.front().tensor()].slot;
    for (std::size_t i = 0; i < run.size(); ++i) from[i] = run[i].of->order.scalers->front();
    STERNA_TRY(put_scalers(run, from));
    const EncodePass pass =
        passes.measures ? EncodePass::ternarize_and_measure : EncodePass::ternarize;
    STERNA_TRY(stream_->encode(pass, launch));
  } else {
    STERNA_TRY(stream_->encode(EncodePass::measure, launch));
    if (!passes.packs) return {};
    STERNA_TRY(put_scalers(run, plan.scalers().data() + run.front().row));
    STERNA_TRY(stream_->encode(EncodePass::ternarize, launch));
  }
  if (passes.feeds_back) STERNA_TRY(stream_->encode(EncodePass::keep_error, launch));
  if (passes.stays) return passes.feeds_back ? put_fed_back(run) : Result<void>();
  return download(run);
}

Result<void> DeviceArithmetic::put_scalers(Run run, const float* from) {
  if (!run.front().passes.stays) {
    float* const to = scalers_.data() + tensors_[run.front().tensor()].slot;
    return stream_->copy(to, from, run.size() * sizeof(float));
  }
  for (std::size_t i = 0; i < run.size(); ++i) {
    STERNA_TRY(stream_->copy(place_of(run[i].tensor()).scaler, from + i, sizeof(float)));
  }
  return {};
}

/// What packets that stay on the device stand for is read there by who steps: the bits of
/// fed_back_scaler().
Result<void> DeviceArithmetic::put_fed_back(Run run) {
  if (clip() <= 1) return {};
  for (const Ready& one : run) {
    float* const scaler = place_of(one.tensor()).scaler;
    STERNA_TRY(stream_->layer(kernels::ElementLaunch{.pass = kernels::ElementPass::divide,
                                                     .a = scaler,
                                                     .out = scaler,
                                                     .count = 1,
                                                     .factor = clip()}));
  }
  return {};
}

/// bf16s, or all 32 bits: of what stays on the device, or of a step in which that travels as fp32
/// of which something is left. Then nothing is left any more.
Result<void> DeviceArithmetic::put_numbers(Run run) {
  const kernels::EncodeLaunch launch = plans_[run.front().plan].launch(run.front().row, run.size());
  const Passes& passes = run.front().passes;
  STERNA_TRY(stream_->encode(EncodePass::measure, launch));
  if (!passes.floats) {
    STERNA_TRY(stream_->encode_bf16(launch));
    return passes.stays ? Result<void>() : download(run);
  }
  for (const Ready& one : run) {
    const std::span<float> sums =
        passes.feeds_back ? residuals_->there(one.tensor()) : std::span<float>();
    if (passes.stays) {
      const std::span<const float> numbers =
          passes.feeds_back ? sums : one.of->order.gradient.values;
      STERNA_TRY(
          stream_->copy(place_now(one.tensor()).payload, numbers.data(), numbers.size_bytes()));
    } else {
      STERNA_TRY(fetch_floats(one.tensor(), sums));
    }
    if (!passes.feeds_back) continue;
    STERNA_TRY(stream_->layer(kernels::ElementLaunch{
        .pass = kernels::ElementPass::clear, .out = sums.data(), .count = sums.size()}));
  }
  return {};
}

Result<void> DeviceArithmetic::download(Run run) {
  const std::size_t begin = payloads_.begin_of(run.front().tensor());
  const std::size_t end = payloads_.end_of(run.back().tensor());
  STERNA_ASSIGN(std::byte* const here, payloads_.piece());
  return stream_->copy(here + begin, payload_.data() + begin, end - begin);
}

/// What the host encodes, or what is sent as it is.
Result<void> DeviceArithmetic::fetch(const Order& order) {
  Tensor& tensor = tensors_[order.tensor];
  const std::span<const float> values = order.gradient.values;
  if (plain(order.tensor)) {
    STERNA_TRY(fetch_floats(order.tensor, values));
  } else {
    STERNA_TRY(make_values_here(order.tensor));
    STERNA_TRY(stream_->copy(tensor.values_here.data(), values.data(), values.size_bytes()));
  }
  STERNA_TRY(stream_->record(*tensor.done));
  under_way_.push_back({order, tensor.done.get()});
  return {};
}

Result<void> DeviceArithmetic::fetch_floats(std::uint32_t tensor, std::span<const float> from) {
  STERNA_ASSIGN(std::byte* const here, floats_.piece());
  return stream_->copy(here + floats_.begin_of(tensor), from.data(), from.size_bytes());
}

}  // namespace sterna::actors
