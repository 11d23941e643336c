#include "encode_case.h"

#include <memory>

#include "kernels/sums/bf16.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/statistics_fold.h"
#include "kernels/trits/ternary.h"
#include "kernels/trits/ternary_blocks.h"
#include "same_bits.h"

namespace sterna::kernels {
namespace {

/// What the CPU finds of a tensor, with trits under `scaler` in the same pass.
struct Expected {
  GradientStatistics statistics;
  std::vector<std::byte> planes;

  Expected(std::span<const float> g, float clip, const TernaryDraw& draw, float scaler)
      : planes(planes_bytes(g.size())) {
    for (std::size_t first = 0; first < g.size(); first += kChunkElements) {
      const auto chunk = g.subspan(first, std::min(kChunkElements, g.size() - first));
      statistics.fold(ternarize_and_measure(
          chunk, scaler, clip, draw, first,
          std::span(planes).subspan(planes_bytes(first), planes_bytes(chunk.size())), {},
          best_isa()));
    }
  }
  /// 0 where there is none.
  float fresh_scaler(float clip, std::span<const float> g) const {
    const Result<float> s = statistics.scaler(clip, g);
    return s ? *s : 0;
  }
};

/// The tensors of a case in a device's memory, close together; their planes apart.
class OnDevice {
 public:
  static Result<OnDevice> make(Device& device, const EncodeCase& what) {
    OnDevice there;
    std::size_t elements = 0;
    std::size_t blocks = 0;
    for (const auto& tensor : what.tensors) {
      there.first_.push_back(elements);
      there.planes_at_.push_back(blocks * kPlaneBlockBytes);
      elements += tensor.size();
      blocks += planes_bytes(tensor.size()) / kPlaneBlockBytes;
    }
    STERNA_ASSIGN(there.stream_, device.make_stream());
    STERNA_ASSIGN(there.values_, DeviceArray<float>::make(device, elements));
    STERNA_ASSIGN(there.incoming_, DeviceArray<float>::make(device, elements));
    // As bf16 they need twice as much.
    STERNA_ASSIGN(there.planes_,
                  DeviceArray<std::byte>::make(device, blocks * kPlaneBlock * sizeof(float)));
    STERNA_ASSIGN(there.draw_, uploaded<StepOfRank>(device, *there.stream_, {&what.draw, 1}));
    std::vector<float> flat;
    flat.reserve(elements);
    for (const auto& tensor : what.tensors) flat.insert(flat.end(), tensor.begin(), tensor.end());
    STERNA_TRY(there.values_.upload(*there.stream_, flat));
    STERNA_TRY(there.stream_->finish());
    return there;
  }

  /// A plan whose scalers are `scalers`' if there are any, else those that were measured.
  Result<EncodePlan> plan(Device& device, const EncodeCase& what, const float* scalers,
                          const EncodedTensor& kind = {}) {
    std::vector<EncodedTensor> tensors;
    for (std::size_t t = 0; t < what.tensors.size(); ++t) {
      EncodedTensor tensor = kind;
      tensor.tensor = what.first_tensor + static_cast<std::uint32_t>(t);
      tensor.elements = what.tensors[t].size();
      tensor.values = values_.data() + first_[t];
      tensor.incoming = incoming_.data() + first_[t];
      tensor.planes = planes_.data() + planes_at_[t];
      tensor.scaler = scalers == nullptr ? nullptr : scalers + t;
      tensors.push_back(tensor);
    }
    return EncodePlan::make(device, *stream_, tensors, draw_.data(), what.clip);
  }

  DeviceStream& stream() { return *stream_; }
  DeviceArray<float>& values() { return values_; }
  DeviceArray<float>& incoming() { return incoming_; }

  /// All planes' bytes, or as much of each tensor as bf16 takes.
  Result<std::vector<std::byte>> bytes() {
    std::vector<std::byte> all(planes_.size());
    STERNA_TRY(planes_.download(*stream_, all));
    STERNA_TRY(stream_->finish());
    return all;
  }
  std::span<const std::byte> of(std::span<const std::byte> all, std::size_t tensor,
                                std::size_t bytes) const {
    return all.subspan(planes_at_[tensor], bytes);
  }
  std::size_t first(std::size_t tensor) const { return first_[tensor]; }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::size_t> planes_at_;
  std::unique_ptr<DeviceStream> stream_;
  DeviceArray<float> values_;
  DeviceArray<float> incoming_;
  DeviceArray<std::byte> planes_;
  DeviceArray<StepOfRank> draw_;
};

template <class T>
Result<std::vector<T>> downloaded(DeviceStream& stream, const DeviceArray<T>& array) {
  std::vector<T> all(array.size());
  STERNA_TRY(array.download(stream, all));
  STERNA_TRY(stream.finish());
  return all;
}

TernaryDraw draw_of_tensor(const EncodeCase& what, std::size_t tensor) {
  return {what.draw.seed, what.draw.step, what.draw.rank,
          what.first_tensor + static_cast<std::uint32_t>(tensor)};
}

std::string named(const EncodeCase& what, std::size_t tensor, const char* which) {
  return fmt::format("{} of tensor {} with {} elements (clip {}, seed {:x}, step {}, rank {})",
                     which, tensor, what.tensors[tensor].size(), what.clip, what.draw.seed,
                     what.draw.step, what.draw.rank);
}

Result<void> same_statistics(const TensorMeasured& found, const Expected& expected, float clip,
                             std::span<const float> g, const std::string& of) {
  const Result<float> scaler = expected.statistics.scaler(clip, g);
  STERNA_TRY(same_number(found.non_finite == 0, scaler.ok(), of + ": whether there is a scaler"));
  if (!scaler) return {};
  STERNA_TRY(same_number(found.sums.sum, expected.statistics.sum(), of + ": S1"));
  STERNA_TRY(same_number(found.sums.squares, expected.statistics.squares(), of + ": S2"));
  return same_floats({&found.scaler, 1}, {&*scaler, 1}, of + ": the scaler");
}

}  // namespace

Result<void> encodes_like_the_cpu(Device& device, const EncodeCase& what) {
  STERNA_ASSIGN(OnDevice there, OnDevice::make(device, what));
  DeviceStream& stream = there.stream();
  // Fresh scalers, and trits under them.
  STERNA_ASSIGN(const EncodePlan fresh, there.plan(device, what, nullptr));
  STERNA_TRY(stream.encode(EncodePass::measure, fresh.launch()));
  STERNA_TRY(stream.encode(EncodePass::ternarize, fresh.launch()));
  STERNA_ASSIGN(const std::vector<TensorMeasured> found, downloaded(stream, fresh.found()));
  STERNA_ASSIGN(const std::vector<std::byte> planes, there.bytes());
  std::vector<float> last = what.last_scalers;
  for (std::size_t t = 0; t < what.tensors.size(); ++t) {
    const std::span<const float> g = what.tensors[t];
    const Expected measured(g, what.clip, draw_of_tensor(what, t), 0);
    const float s = measured.fresh_scaler(what.clip, g);
    STERNA_TRY(same_statistics(found[t], measured, what.clip, g, named(what, t, "statistics")));
    const Expected encoded(g, what.clip, draw_of_tensor(what, t), s);
    STERNA_TRY(same_bytes(there.of(planes, t, encoded.planes.size()), encoded.planes,
                          named(what, t, "planes")));
    if (last.size() <= t) last.push_back(s * 2);
  }
  // The last step's scalers, and statistics in the same pass; twice, as steps follow each other.
  STERNA_ASSIGN(const DeviceArray<float> scalers, uploaded<float>(device, stream, last));
  STERNA_ASSIGN(const EncodePlan next, there.plan(device, what, scalers.data()));
  for (int step = 0; step < 2; ++step) {
    STERNA_TRY(stream.encode(EncodePass::ternarize_and_measure, next.launch()));
    STERNA_ASSIGN(const std::vector<TensorMeasured> next_found, downloaded(stream, next.found()));
    STERNA_ASSIGN(const std::vector<float> made, downloaded(stream, next.scalers()));
    STERNA_ASSIGN(const std::vector<std::byte> next_planes, there.bytes());
    for (std::size_t t = 0; t < what.tensors.size(); ++t) {
      const std::span<const float> g = what.tensors[t];
      const Expected expected(g, what.clip, draw_of_tensor(what, t), last[t]);
      const float s = expected.fresh_scaler(what.clip, g);
      STERNA_TRY(same_statistics(next_found[t], expected, what.clip, g,
                                 named(what, t, "the next step's statistics")));
      STERNA_TRY(same_number(next_found[t].saturated, expected.statistics.saturated(),
                             named(what, t, "saturated elements")));
      STERNA_TRY(same_floats({&made[t], 1}, {&s, 1}, named(what, t, "the next step's scaler")));
      STERNA_TRY(same_bytes(there.of(next_planes, t, expected.planes.size()), expected.planes,
                            named(what, t, "planes under the last step's scaler")));
    }
  }
  return {};
}

Result<void> feeds_errors_back_like_the_cpu(Device& device, const EncodeCase& what) {
  STERNA_ASSIGN(OnDevice there, OnDevice::make(device, what));
  DeviceStream& stream = there.stream();
  STERNA_ASSIGN(const EncodePlan plan, there.plan(device, what, nullptr, {.fed_back = true}));
  std::vector<float> gradient;
  for (const auto& tensor : what.tensors) {
    for (const float value : tensor) gradient.push_back(value * 0.5F + 0.01F);
  }
  STERNA_TRY(there.incoming().upload(stream, gradient));
  constexpr int kSteps = 2;
  for (int step = 0; step < kSteps; ++step) {
    for (const EncodePass pass : {EncodePass::take_in, EncodePass::measure, EncodePass::ternarize,
                                  EncodePass::keep_error}) {
      STERNA_TRY(stream.encode(pass, plan.launch()));
    }
  }
  STERNA_ASSIGN(const std::vector<float> found, downloaded(stream, there.values()));
  for (std::size_t t = 0; t < what.tensors.size(); ++t) {
    std::vector<float> residual = what.tensors[t];
    std::vector<float> decoded(residual.size());
    std::vector<std::byte> planes(planes_bytes(residual.size()));
    for (int step = 0; step < kSteps; ++step) {
      for (std::size_t i = 0; i < residual.size(); ++i) residual[i] += gradient[there.first(t) + i];
      STERNA_ASSIGN(const float fresh, scaler(residual, what.clip, best_isa()));
      // Drawn under the one, and taken for the other.
      ternarize(residual, fresh, draw_of_tensor(what, t), 0, planes, best_isa());
      decode(planes, fed_back_scaler(fresh, what.clip), decoded, best_isa());
      for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= decoded[i];
    }
    STERNA_TRY(same_floats(std::span(found).subspan(there.first(t), residual.size()), residual,
                           named(what, t, "the residual")));
  }
  return {};
}

Result<void> encodes_bf16_like_the_cpu(Device& device, const EncodeCase& what) {
  // One tensor at a time: its bf16s take more room than its planes.
  for (std::size_t t = 0; t < what.tensors.size(); ++t) {
    EncodeCase one{.tensors = {what.tensors[t]}};
    STERNA_ASSIGN(OnDevice alone, OnDevice::make(device, one));
    STERNA_ASSIGN(EncodePlan plan, alone.plan(device, one, nullptr, {.bf16 = true}));
    STERNA_TRY(alone.stream().encode_bf16(plan.launch()));
    STERNA_ASSIGN(const std::vector<std::byte> found, alone.bytes());
    std::vector<std::byte> expected(one.tensors[0].size() * 2);
    encode_bf16(one.tensors[0], expected, best_isa());
    STERNA_TRY(same_bytes(alone.of(found, 0, expected.size()), expected, named(what, t, "bf16s")));
    STERNA_ASSIGN(plan, alone.plan(device, one, nullptr, {.fed_back = true, .bf16 = true}));
    STERNA_TRY(alone.stream().encode_bf16(plan.launch()));
    STERNA_ASSIGN(const std::vector<std::byte> again, alone.bytes());
    STERNA_TRY(same_bytes(alone.of(again, 0, expected.size()), expected, named(what, t, "bf16s")));
    STERNA_ASSIGN(const std::vector<float> left, downloaded(alone.stream(), alone.values()));
    std::vector<float> residual = one.tensors[0];
    std::vector<float> decoded(residual.size());
    decode_bf16(expected, decoded, best_isa());
    for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= decoded[i];
    STERNA_TRY(same_floats(left, residual, named(what, t, "what bf16s leave")));
  }
  return {};
}

}  // namespace sterna::kernels
