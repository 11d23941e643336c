#include "codec_speed.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "kernels/device/tables.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/ternary.h"
#include "nets_tensors.h"
#include "runtime/base/median.h"
#include "tests/kernels/gradients.h"

namespace sterna::kernels {
namespace {

constexpr float kClip = 2.5F;
constexpr std::uint32_t kRanks = 8;
constexpr std::size_t kAligned = 64;  // floats: tensors begin where an allocation could

/// One of several buffers' pass; all of them one after the other are a round.
struct Contender {
  std::string name;
  std::vector<std::function<Result<void>()>> passes;
};

/// Times of one pass, the contenders in turn, so that a busy moment meets them all.
class Rounds {
 public:
  static Result<Rounds> measure(Device& device, DeviceStream& stream,
                                const std::vector<Contender>& contenders, int rounds) {
    Rounds times;
    STERNA_ASSIGN(const std::unique_ptr<DeviceEvent> begin, device.make_event());
    STERNA_ASSIGN(const std::unique_ptr<DeviceEvent> end, device.make_event());
    for (int round = -1; round < rounds; ++round) {  // the first is not counted
      for (const Contender& contender : contenders) {
        STERNA_TRY(stream.record(*begin));
        for (const auto& pass : contender.passes) STERNA_TRY(pass());
        STERNA_TRY(stream.record(*end));
        STERNA_TRY(stream.finish());
        STERNA_ASSIGN(const double seconds, device.seconds(*begin, *end));
        if (round < 0) continue;
        times.seconds_[contender.name].push_back(seconds /
                                                 static_cast<double>(contender.passes.size()));
      }
    }
    return times;
  }

  double seconds(const std::string& name) const { return median(seconds_.at(name)); }
  /// The median over the rounds of a's time over b's.
  double ratio(const std::string& a, const std::string& b) const {
    std::vector<double> ratios(seconds_.at(a).size());
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      ratios[i] = seconds_.at(a)[i] / seconds_.at(b)[i];
    }
    return median(std::move(ratios));
  }

 private:
  std::map<std::string, std::vector<double>> seconds_;
};

/// How many buffers of so many bytes are used in turn, so that the first has left the cache by
/// then.
std::size_t buffers_of(const Device& device, const SpeedOptions& options, std::size_t bytes) {
  const std::size_t cache = std::max(2 * device.facts().cache, options.least_cache);
  return std::clamp<std::size_t>(cache / bytes + 2, 2, 128);
}

/// Some tensors that are encoded together, as often as there are buffers.
class Encoding {
 public:
  static Result<Encoding> make(Device& device, DeviceStream& stream, const SpeedOptions& options,
                               const std::vector<std::size_t>& tensors) {
    Encoding made(stream);
    std::size_t floats = 0;
    std::size_t bytes = 0;
    for (const std::size_t n : tensors) {
      floats += (n + kAligned - 1) / kAligned * kAligned;
      bytes += planes_bytes(n);
    }
    made.bytes_ = std::accumulate(tensors.begin(), tensors.end(), std::size_t{0}) * sizeof(float);
    const StepOfRank step{1, 1, 0};
    STERNA_ASSIGN(made.draw_, uploaded<StepOfRank>(device, stream, {&step, 1}));
    const std::vector<float> values = gaussian(floats, 0.01F, 1);
    for (std::size_t buffer = buffers_of(device, options, made.bytes_); buffer-- > 0;) {
      STERNA_ASSIGN(DeviceArray<float> gradient, uploaded<float>(device, stream, values));
      STERNA_ASSIGN(DeviceArray<std::byte> planes, DeviceArray<std::byte>::make(device, bytes));
      std::vector<EncodedTensor> table;
      float* from = gradient.data();
      std::byte* to = planes.data();
      for (const std::size_t n : tensors) {
        EncodedTensor tensor;
        tensor.tensor = static_cast<std::uint32_t>(table.size());
        tensor.elements = n;
        tensor.values = from;
        tensor.planes = to;
        table.push_back(tensor);
        from += (n + kAligned - 1) / kAligned * kAligned;
        to += planes_bytes(n);
      }
      STERNA_ASSIGN(EncodePlan plan,
                    EncodePlan::make(device, stream, table, made.draw_.data(), kClip));
      STERNA_TRY(stream.encode(EncodePass::measure, plan.launch()));  // scalers for all passes
      STERNA_TRY(stream.finish());
      made.gradients_.push_back(std::move(gradient));
      made.planes_.push_back(std::move(planes));
      made.plans_.push_back(std::move(plan));
    }
    return made;
  }

  Contender contender(std::string name, const std::vector<EncodePass>& passes) const {
    Contender all{std::move(name), {}};
    for (const EncodePlan& plan : plans_) {
      all.passes.emplace_back([this, &plan, passes]() -> Result<void> {
        for (const EncodePass pass : passes) STERNA_TRY(stream_->encode(pass, plan.launch()));
        return {};
      });
    }
    return all;
  }
  /// Statistics, then trits, of one buffer.
  Result<void> encode(std::size_t buffer) const {
    STERNA_TRY(stream_->encode(EncodePass::measure, plans_[buffer].launch()));
    return stream_->encode(EncodePass::ternarize, plans_[buffer].launch());
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t buffers() const { return plans_.size(); }
  const DeviceArray<std::byte>& planes(std::size_t buffer) const { return planes_[buffer]; }
  const DeviceArray<float>& gradient(std::size_t buffer) const { return gradients_[buffer]; }
  const float* scaler(std::size_t buffer) const { return plans_[buffer].scalers().data(); }

 private:
  explicit Encoding(DeviceStream& stream) : stream_(&stream) {}

  DeviceStream* stream_;
  std::size_t bytes_ = 0;
  DeviceArray<StepOfRank> draw_;
  std::vector<DeviceArray<float>> gradients_;
  std::vector<DeviceArray<std::byte>> planes_;
  std::vector<EncodePlan> plans_;
};

using Figures = std::map<std::string, double>;

Result<void> measure_tensor(Device& device, DeviceStream& stream, const SpeedOptions& options,
                            Figures& figures) {
  using enum EncodePass;
  STERNA_ASSIGN(const Encoding one, Encoding::make(device, stream, options, {options.elements}));
  STERNA_ASSIGN(
      const Rounds times,
      Rounds::measure(device, stream,
                      {one.contender("read", {read}), one.contender("quantize", {ternarize}),
                       one.contender("encode_last_step", {ternarize_and_measure}),
                       one.contender("encode_tensor", {measure, ternarize})},
                      options.rounds));
  figures["read_gbps"] = static_cast<double>(one.bytes()) / times.seconds("read") / 1e9;
  for (const char* name : {"quantize", "encode_last_step", "encode_tensor"}) {
    figures[std::string(name) + "_over_read"] = times.ratio("read", name);
    figures[std::string(name) + "_ms"] = times.seconds(name) * 1e3;
  }
  return {};
}

Result<void> measure_nets(Device& device, DeviceStream& stream, const SpeedOptions& options,
                          Figures& figures) {
  using enum EncodePass;
  STERNA_ASSIGN(const Encoding net, Encoding::make(device, stream, options, options.net));
  STERNA_ASSIGN(const Rounds times, Rounds::measure(device, stream,
                                                    {net.contender("read", {read}),
                                                     net.contender("encode", {measure, ternarize})},
                                                    options.rounds));
  figures["encode_net_over_read"] = times.ratio("read", "encode");
  STERNA_ASSIGN(const Encoding small, Encoding::make(device, stream, options, lenet_tensors()));
  STERNA_ASSIGN(const Rounds small_times,
                Rounds::measure(device, stream, {small.contender("encode", {measure, ternarize})},
                                options.rounds));
  constexpr double kMicro = 1e6;
  figures["encode_lenet_us"] = small_times.seconds("encode") * kMicro;
  return {};
}

/// A net's gradients, all there at once, on their way to packets in the host's memory: the tensors
/// in groups, whose packets one stream copies while another encodes the next.
class ToHost {
 public:
  static Result<ToHost> make(Device& device, DeviceStream& stream, const SpeedOptions& options) {
    ToHost made(stream);
    std::size_t all = 0;
    for (const std::size_t n : options.net) all += n;
    std::vector<std::size_t> group;
    std::size_t elements = 0;
    for (const std::size_t n : options.net) {
      group.push_back(n);
      elements += n;
      const double part = kParts[std::min(made.groups_.size(), std::size(kParts) - 1)];
      if (static_cast<double>(elements) < part * static_cast<double>(all)) continue;
      STERNA_TRY(made.add(device, stream, options, std::exchange(group, {})));
    }
    if (!group.empty()) STERNA_TRY(made.add(device, stream, options, group));
    STERNA_ASSIGN(made.copies_, device.make_stream());
    STERNA_ASSIGN(made.encoded_, device.make_event());
    STERNA_ASSIGN(made.copied_, device.make_event());
    STERNA_ASSIGN(made.here_, PinnedArray<std::byte>::make(device, made.bytes_));
    STERNA_ASSIGN(made.there_, DeviceArray<std::byte>::make(device, made.bytes_));
    return made;
  }

  /// From gradients to packets in pinned memory, the groups' as often as the first's has buffers.
  Contender to_host() const {
    Contender all{"to_host", {}};
    for (std::size_t buffer = 0; buffer < groups_.front().buffers(); ++buffer) {
      all.passes.emplace_back([this, buffer]() -> Result<void> {
        std::byte* to = here_.data();
        for (const Encoding& group : groups_) {
          const std::size_t of_group = buffer % group.buffers();
          STERNA_TRY(group.encode(of_group));
          STERNA_TRY(stream_->record(*encoded_));
          STERNA_TRY(copies_->wait_for(*encoded_));
          const DeviceArray<std::byte>& planes = group.planes(of_group);
          STERNA_TRY(copies_->copy(to, planes.data(), planes.size()));
          to += planes.size();
        }
        STERNA_TRY(copies_->record(*copied_));
        return stream_->wait_for(*copied_);
      });
    }
    return all;
  }
  Contender pinned_copy() const {
    return {"pinned_copy", {[this] { return stream_->copy(here_.data(), there_.data(), bytes_); }}};
  }

 private:
  /// Where groups end, as parts of all elements: the first is the smaller, so that copies begin
  /// early.
  static constexpr double kParts[] = {1.0 / 3, 1};
  explicit ToHost(DeviceStream& stream) : stream_(&stream) {}

  Result<void> add(Device& device, DeviceStream& stream, const SpeedOptions& options,
                   const std::vector<std::size_t>& tensors) {
    STERNA_ASSIGN(Encoding group, Encoding::make(device, stream, options, tensors));
    bytes_ += group.planes(0).size();
    groups_.push_back(std::move(group));
    return {};
  }

  DeviceStream* stream_;
  std::vector<Encoding> groups_;
  std::size_t bytes_ = 0;  // of all packets
  std::unique_ptr<DeviceStream> copies_;
  std::unique_ptr<DeviceEvent> encoded_;
  std::unique_ptr<DeviceEvent> copied_;
  PinnedArray<std::byte> here_;
  DeviceArray<std::byte> there_;
};

Result<void> measure_to_host(Device& device, DeviceStream& stream, const SpeedOptions& options,
                             Figures& figures) {
  STERNA_ASSIGN(const ToHost net, ToHost::make(device, stream, options));
  STERNA_ASSIGN(
      const Rounds times,
      Rounds::measure(device, stream, {net.to_host(), net.pinned_copy()}, options.rounds));
  figures["host_over_pinned_copy"] = times.ratio("to_host", "pinned_copy");
  return {};
}

/// Eight ranks' planes and the tables that sum them, or step with them.
class Server {
 public:
  static Result<Server> make(Device& device, DeviceStream& stream, const SpeedOptions& options) {
    Server made(stream);
    const std::size_t elements = options.elements;
    STERNA_ASSIGN(Encoding ranks, Encoding::make(device, stream, options, {elements}));
    for (const auto& pass : ranks.contender("ternarize", {EncodePass::ternarize}).passes) {
      STERNA_TRY(pass());
    }
    const std::size_t planes = planes_bytes(elements);
    const std::size_t step_bytes = 3 * elements * sizeof(float);
    const std::size_t buffers = buffers_of(device, options, kRanks * planes);
    for (std::size_t buffer = 0; buffer < buffers; ++buffer) {
      STERNA_ASSIGN(DeviceArray<std::byte> payloads,
                    DeviceArray<std::byte>::make(device, kRanks * planes));
      std::vector<DevicePacket> packets;
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        std::byte* const payload = payloads.data() + rank * planes;
        STERNA_TRY(stream.copy(payload, ranks.planes(rank % ranks.buffers()).data(), planes));
        packets.push_back({payload, ranks.scaler(0), Packing::planes});
      }
      STERNA_TRY(made.add(device, stream, elements, packets));
      made.payloads_.push_back(std::move(payloads));
    }
    for (std::size_t buffer = buffers_of(device, options, step_bytes); buffer-- > 0;) {
      const DevicePacket plain{reinterpret_cast<const std::byte*>(ranks.gradient(0).data()),
                               nullptr, Packing::fp32};
      STERNA_TRY(made.add_step(device, stream, elements, plain));
    }
    STERNA_TRY(stream.finish());
    made.ranks_ = std::make_unique<Encoding>(std::move(ranks));
    return made;
  }

  Contender aggregate() const {
    Contender all{"aggregate", {}};
    for (const DeviceArray<SumWork>& work : sum_work_) {
      all.passes.emplace_back([this, &work] {
        return stream_->sum_trits({work.data(), static_cast<std::uint32_t>(work.size()), kRanks});
      });
    }
    return all;
  }
  /// A step of momentum from eight ranks' trits, or from one fp32 gradient.
  Contender step(bool trits) const {
    Contender all{trits ? "fused" : "momentum", {}};
    for (const DeviceArray<UpdateWork>& work : trits ? step_work_ : plain_work_) {
      all.passes.emplace_back([this, &work, trits] {
        return stream_->update({work.data(), static_cast<std::uint32_t>(work.size()),
                                trits ? kRanks : 1, DeviceRule::momentum, false, step_.data()});
      });
    }
    return all;
  }

 private:
  explicit Server(DeviceStream& stream) : stream_(&stream) {}

  Result<void> add(Device& device, DeviceStream& stream, std::size_t elements,
                   const std::vector<DevicePacket>& packets) {
    STERNA_ASSIGN(DeviceArray<DevicePacket> there, uploaded<DevicePacket>(device, stream, packets));
    STERNA_ASSIGN(DeviceArray<std::byte> sums,
                  DeviceArray<std::byte>::make(device, sum_bytes(elements, kRanks)));
    std::vector<SumWork> table;
    append_sums(there.data(), elements, kRanks, sums.data(), table);
    STERNA_ASSIGN(DeviceArray<SumWork> work, uploaded<SumWork>(device, stream, table));
    sum_work_.push_back(std::move(work));
    packets_.push_back(std::move(there));
    sums_.push_back(std::move(sums));
    return {};
  }

  /// One more set of parameters, which both ways of stepping use.
  Result<void> add_step(Device& device, DeviceStream& stream, std::size_t elements,
                        const DevicePacket& plain) {
    if (step_.size() == 0) {
      const DeviceStep constants{{0.01F, 0.9F}, 0};
      STERNA_ASSIGN(step_, uploaded<DeviceStep>(device, stream, {&constants, 1}));
      STERNA_ASSIGN(plain_, uploaded<DevicePacket>(device, stream, {&plain, 1}));
    }
    UpdatedTensor tensor;
    tensor.elements = elements;
    STERNA_ASSIGN(DeviceArray<float> current, DeviceArray<float>::make(device, elements));
    STERNA_ASSIGN(DeviceArray<float> next, DeviceArray<float>::make(device, elements));
    STERNA_ASSIGN(DeviceArray<float> slot, DeviceArray<float>::make(device, elements));
    tensor.current = current.data();
    tensor.next = next.data();
    tensor.slots[0] = slot.data();
    for (DeviceArray<float>* const made : {&current, &next, &slot}) {
      parameters_.push_back(std::move(*made));
    }
    const std::size_t step = step_work_.size();
    for (const bool trits : {true, false}) {
      tensor.packets = trits ? packets_[step % packets_.size()].data() : plain_.data();
      std::vector<UpdateWork> table;
      append_update(tensor, table);
      STERNA_ASSIGN(DeviceArray<UpdateWork> work, uploaded<UpdateWork>(device, stream, table));
      (trits ? step_work_ : plain_work_).push_back(std::move(work));
    }
    return {};
  }

  DeviceStream* stream_;
  std::unique_ptr<Encoding> ranks_;
  DeviceArray<DeviceStep> step_;
  DeviceArray<DevicePacket> plain_;
  std::vector<DeviceArray<std::byte>> payloads_;
  std::vector<DeviceArray<DevicePacket>> packets_;
  std::vector<DeviceArray<std::byte>> sums_;
  std::vector<DeviceArray<SumWork>> sum_work_;
  std::vector<DeviceArray<float>> parameters_;
  std::vector<DeviceArray<UpdateWork>> step_work_;
  std::vector<DeviceArray<UpdateWork>> plain_work_;
};

Result<void> measure_server(Device& device, DeviceStream& stream, const SpeedOptions& options,
                            Figures& figures) {
  STERNA_ASSIGN(const Server server, Server::make(device, stream, options));
  // As many bytes as the packets of eight ranks have.
  const std::size_t packed = kRanks * planes_bytes(options.elements) / sizeof(float);
  STERNA_ASSIGN(const Encoding input, Encoding::make(device, stream, options, {packed}));
  STERNA_ASSIGN(const Rounds times,
                Rounds::measure(device, stream,
                                {input.contender("read", {EncodePass::read}), server.aggregate(),
                                 server.step(true), server.step(false)},
                                options.rounds));
  figures["aggregate8_over_read"] = times.ratio("read", "aggregate");
  figures["fused8_over_momentum"] = times.ratio("fused", "momentum");
  return {};
}

}  // namespace

std::vector<SpeedGoal> codec_speed_goals() {
  return {{"quantize_over_read", .70, .88, false},
          {"encode_last_step_over_read", .60, .80, false},
          {"encode_tensor_over_read", .36, .44, false},
          {"encode_net_over_read", .33, .42, false},
          {"encode_lenet_us", 20, 10, true},
          {"aggregate8_over_read", .55, .70, false},
          {"fused8_over_momentum", 1.15, .97, true},
          {"host_over_pinned_copy", 1.5, 1.15, true}};
}

Result<Figures> codec_speed(Device& device, const SpeedOptions& options) {
  STERNA_ASSIGN(const std::unique_ptr<DeviceStream> stream, device.make_stream());
  Figures figures;
  STERNA_TRY(measure_tensor(device, *stream, options, figures));
  STERNA_TRY(measure_nets(device, *stream, options, figures));
  STERNA_TRY(measure_to_host(device, *stream, options, figures));
  STERNA_TRY(measure_server(device, *stream, options, figures));
  return figures;
}

}  // namespace sterna::kernels
