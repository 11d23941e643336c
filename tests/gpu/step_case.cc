#include "step_case.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>

#include "kernels/device/tables.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/sums/bf16.h"
#include "kernels/sums/sums.h"
#include "same_bits.h"
#include "tests/kernels/gradients.h"

namespace sterna::kernels {
namespace {

/// The packets of one tensor, here and in a device's memory.
struct TensorPackets {
  std::size_t elements = 0;
  std::vector<std::vector<std::byte>> payloads;
  std::vector<float> scalers;
  std::vector<DeviceArray<std::byte>> there;
  DeviceArray<float> scalers_there;
  DeviceArray<DevicePacket> packets_there;

  std::vector<Packet> packets(const std::vector<Packing>& packings) const {
    std::vector<Packet> all;
    for (std::size_t r = 0; r < packings.size(); ++r) {
      all.push_back({packings[r], scalers[r], payloads[r]});
    }
    return all;
  }

  static Result<TensorPackets> make(Device& device, DeviceStream& stream, const StepCase& what,
                                    std::size_t tensor) {
    TensorPackets made;
    made.elements = what.elements[tensor];
    for (std::size_t r = 0; r < what.packings.size(); ++r) {
      const auto g = gaussian(made.elements, 0.1F, what.seed + 100 * tensor + r);
      const float s = 0.2F + 0.03F * static_cast<float>(r);
      const Packing packing = what.packings[r];
      std::vector<std::byte> payload(packing == Packing::planes ? planes_bytes(g.size())
                                     : packing == Packing::fp32 ? g.size() * sizeof(float)
                                                                : g.size() * 2);
      if (packing == Packing::planes) {
        const TernaryDraw draw{what.seed, 1, static_cast<std::uint32_t>(r),
                               static_cast<std::uint32_t>(tensor)};
        ternarize(g, s, draw, 0, payload, best_isa());
      } else if (packing == Packing::bf16) {
        encode_bf16(g, payload, best_isa());
      } else if (!g.empty()) {
        std::memcpy(payload.data(), g.data(), payload.size());
      }
      STERNA_ASSIGN(DeviceArray<std::byte> copy, uploaded<std::byte>(device, stream, payload));
      made.payloads.push_back(std::move(payload));
      made.scalers.push_back(s);
      made.there.push_back(std::move(copy));
    }
    STERNA_ASSIGN(made.scalers_there, uploaded<float>(device, stream, made.scalers));
    std::vector<DevicePacket> packets;
    for (std::size_t r = 0; r < what.packings.size(); ++r) {
      packets.push_back({made.there[r].data(), made.scalers_there.data() + r, what.packings[r]});
    }
    STERNA_ASSIGN(made.packets_there, uploaded<DevicePacket>(device, stream, packets));
    return made;
  }
};

Result<std::vector<TensorPackets>> all_packets(Device& device, DeviceStream& stream,
                                               const StepCase& what) {
  std::vector<TensorPackets> all;
  for (std::size_t t = 0; t < what.elements.size(); ++t) {
    STERNA_ASSIGN(TensorPackets packets, TensorPackets::make(device, stream, what, t));
    all.push_back(std::move(packets));
  }
  return all;
}

std::string named(const StepCase& what, std::size_t tensor, const std::string& which) {
  return fmt::format("{} of {} elements from {} ranks", which, what.elements[tensor],
                     what.packings.size());
}

bool all_planes(const StepCase& what) {
  return std::ranges::all_of(what.packings, [](Packing p) { return p == Packing::planes; });
}

/// A rule on both sides; `average` has none on the CPU.
struct Rule {
  DeviceRule there;
  const char* name;
  float weight_decay;
  bool in_place;
  std::size_t slots = 0;
  std::size_t squares = kMostSlots;  ///< the slot that is of squares, and never negative
};

/// One rule's step of all tensors in one launch.
class StepRun {
 public:
  StepRun(Device& device, DeviceStream& stream, const StepCase& what,
          std::vector<TensorPackets>& packets, const Rule& rule, bool from_sums)
      : device_(device),
        stream_(stream),
        what_(what),
        packets_(packets),
        rule_(rule),
        from_sums_(from_sums) {}

  Result<void> run() {
    std::vector<UpdateWork> table;
    for (std::size_t t = 0; t < packets_.size(); ++t) STERNA_TRY(add(t, table));
    STERNA_ASSIGN(const DeviceArray<UpdateWork> work,
                  uploaded<UpdateWork>(device_, stream_, table));
    const DeviceStep constants{{0.05F, 0.9F, 0.1F, 1e-3F, 0.02F}, rule_.weight_decay};
    STERNA_ASSIGN(const DeviceArray<DeviceStep> step,
                  uploaded<DeviceStep>(device_, stream_, {&constants, 1}));
    STERNA_TRY(stream_.update({work.data(), static_cast<std::uint32_t>(table.size()), ranks(),
                               rule_.there, from_sums_, step.data()}));
    STERNA_TRY(stream_.finish());
    for (std::size_t t = 0; t < packets_.size(); ++t) STERNA_TRY(compare(t, constants));
    return {};
  }

 private:
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(what_.packings.size()); }

  Result<void> add(std::size_t t, std::vector<UpdateWork>& table) {
    const std::size_t n = packets_[t].elements;
    values_.push_back(gaussian(n, 1.0F, what_.seed + t + 7));
    std::vector<float>& slots = slots_.emplace_back();
    for (std::size_t s = 0; s < rule_.slots; ++s) {
      std::vector<float> slot = gaussian(n, 0.3F, what_.seed + t + 9 + s);
      if (s == rule_.squares)
        std::ranges::transform(slot, slot.begin(), [](float x) { return x * x; });
      slots.insert(slots.end(), slot.begin(), slot.end());
    }
    sums_.emplace_back(from_sums_ ? sum_bytes(n, ranks()) : 0);
    if (from_sums_) {
      sum_trits(packets_[t].packets(what_.packings), sums_.back(), best_isa());
    }
    STERNA_ASSIGN(DeviceArray<float> current, uploaded<float>(device_, stream_, values_.back()));
    STERNA_ASSIGN(DeviceArray<float> next, DeviceArray<float>::make(device_, n));
    STERNA_ASSIGN(DeviceArray<float> slot, uploaded<float>(device_, stream_, slots_.back()));
    STERNA_ASSIGN(DeviceArray<std::byte> sums, uploaded<std::byte>(device_, stream_, sums_.back()));
    current_.push_back(std::move(current));
    next_.push_back(std::move(next));
    slot_.push_back(std::move(slot));
    sums_there_.push_back(std::move(sums));
    UpdatedTensor tensor;
    tensor.elements = n;
    tensor.packets = from_sums_ ? nullptr : packets_[t].packets_there.data();
    tensor.sums = sums_there_.back().data();
    tensor.scaler = packets_[t].scalers_there.data();
    tensor.current = current_.back().data();
    tensor.next = rule_.in_place ? current_.back().data() : next_.back().data();
    set_slots(tensor, slot_.back().data(), rule_.slots);
    append_update(tensor, table);
    return {};
  }

  Result<void> compare(std::size_t t, const DeviceStep& constants) {
    const std::size_t n = packets_[t].elements;
    std::vector<float> found(n);
    std::vector<float> found_slots(slots_[t].size());
    STERNA_TRY((rule_.in_place ? current_ : next_)[t].download(stream_, found));
    STERNA_TRY(slot_[t].download(stream_, found_slots));
    STERNA_TRY(stream_.finish());
    std::vector<float> expected(n);
    const auto packets = packets_[t].packets(what_.packings);
    const SumPacket sums{ranks(), packets_[t].scalers[0], sums_[t]};
    if (rule_.there == DeviceRule::average) {
      if (from_sums_) {
        decode_sums(sums, expected, best_isa());
      } else {
        average(packets, expected, best_isa());
      }
    } else {
      STERNA_ASSIGN(const Optimizer optimizer, find_optimizer(rule_.name));
      UpdateOptions options{.optimizer = optimizer, .weight_decay = rule_.weight_decay};
      std::ranges::copy(constants.value, options.constants.value);
      std::vector<std::span<float>> slots;
      for (std::size_t s = 0; s < optimizer.slots.size(); ++s) {
        slots.push_back(std::span(slots_[t]).subspan(s * n, n));
      }
      const Parameters parameters{values_[t], slots, expected};
      if (from_sums_) {
        const SumStep step{sums, options};
        update({&step, 1}, parameters, best_isa());
      } else {
        update(packets, options, parameters, best_isa());
      }
    }
    const std::string of =
        fmt::format("{}{}", rule_.name, from_sums_ ? " from sums" : " from packets");
    STERNA_TRY(same_floats(found, expected, named(what_, t, of)));
    return same_floats(found_slots, slots_[t], named(what_, t, of + ", the slots"));
  }

  Device& device_;
  DeviceStream& stream_;
  const StepCase& what_;
  std::vector<TensorPackets>& packets_;
  Rule rule_;
  bool from_sums_;
  std::vector<std::vector<float>> values_;
  std::vector<std::vector<float>> slots_;
  std::vector<std::vector<std::byte>> sums_;
  std::vector<DeviceArray<float>> current_;
  std::vector<DeviceArray<float>> next_;
  std::vector<DeviceArray<float>> slot_;
  std::vector<DeviceArray<std::byte>> sums_there_;
};

}  // namespace

Result<void> sums_like_the_cpu(Device& device, const StepCase& what) {
  STERNA_ASSIGN(const std::unique_ptr<DeviceStream> stream, device.make_stream());
  STERNA_ASSIGN(const std::vector<TensorPackets> packets, all_packets(device, *stream, what));
  const auto ranks = static_cast<std::uint32_t>(what.packings.size());
  std::vector<DeviceArray<std::byte>> sums;
  std::vector<SumWork> table;
  for (const TensorPackets& tensor : packets) {
    STERNA_ASSIGN(DeviceArray<std::byte> made,
                  DeviceArray<std::byte>::make(device, sum_bytes(tensor.elements, ranks)));
    append_sums(tensor.packets_there.data(), tensor.elements, ranks, made.data(), table);
    sums.push_back(std::move(made));
  }
  STERNA_ASSIGN(const DeviceArray<SumWork> work, uploaded<SumWork>(device, *stream, table));
  STERNA_TRY(stream->sum_trits({work.data(), static_cast<std::uint32_t>(table.size()), ranks}));
  STERNA_TRY(stream->finish());
  for (std::size_t t = 0; t < packets.size(); ++t) {
    std::vector<std::byte> found(sums[t].size());
    std::vector<std::byte> expected(sums[t].size());
    STERNA_TRY(sums[t].download(*stream, found));
    STERNA_TRY(stream->finish());
    sum_trits(packets[t].packets(what.packings), expected, best_isa());
    STERNA_TRY(same_bytes(found, expected, named(what, t, "sums")));
  }
  return {};
}

Result<void> steps_like_the_cpu(Device& device, const StepCase& what) {
  constexpr std::array kRules{Rule{DeviceRule::average, "average", 0, false},
                              Rule{DeviceRule::gd, "gd", 0, false},
                              Rule{DeviceRule::gd, "gd", 1e-3F, true},
                              Rule{DeviceRule::momentum, "momentum", 0, true, 1},
                              Rule{DeviceRule::momentum, "momentum", 1e-3F, false, 1},
                              Rule{DeviceRule::nesterov, "nesterov", 1e-3F, true, 1},
                              Rule{DeviceRule::adam, "adam", 0, false, 2, 1},
                              Rule{DeviceRule::adamw, "adamw", 1e-3F, true, 2, 1},
                              Rule{DeviceRule::rmsprop, "rmsprop", 1e-3F, false, 2, 0},
                              Rule{DeviceRule::adagrad, "adagrad", 0, true, 1, 0}};
  STERNA_ASSIGN(const std::unique_ptr<DeviceStream> stream, device.make_stream());
  STERNA_ASSIGN(std::vector<TensorPackets> packets, all_packets(device, *stream, what));
  for (const Rule& rule : kRules) {
    STERNA_TRY(StepRun(device, *stream, what, packets, rule, false).run());
    if (all_planes(what)) {
      STERNA_TRY(StepRun(device, *stream, what, packets, rule, true).run());
    }
  }
  return {};
}

Result<void> averages_from_fp32_sums_like_the_cpu(Device& device, const StepCase& what) {
  STERNA_ASSIGN(const std::unique_ptr<DeviceStream> stream, device.make_stream());
  STERNA_ASSIGN(const std::vector<TensorPackets> packets, all_packets(device, *stream, what));
  const auto ranks = static_cast<std::uint32_t>(what.packings.size());
  for (std::size_t t = 0; t < packets.size(); ++t) {
    const TensorPackets& tensor = packets[t];
    auto* const sum = reinterpret_cast<float*>(tensor.there.front().data());
    std::vector<UpdateWork> table;
    append_update(
        {.elements = tensor.elements, .packets = tensor.packets_there.data(), .next = sum}, table);
    STERNA_ASSIGN(const auto summing, uploaded<UpdateWork>(device, *stream, table));
    STERNA_ASSIGN(const auto average_there, DeviceArray<float>::make(device, tensor.elements));
    // The sum is the first packet now.
    table.clear();
    append_update({.elements = tensor.elements,
                   .packets = tensor.packets_there.data(),
                   .next = average_there.data()},
                  table);
    STERNA_ASSIGN(const auto averaging, uploaded<UpdateWork>(device, *stream, table));
    UpdateLaunch launch{.work = summing.data(),
                        .count = static_cast<std::uint32_t>(table.size()),
                        .ranks = ranks,
                        .divisor = 1};
    STERNA_TRY(stream->update(launch));
    launch.work = averaging.data();
    launch.ranks = 1;
    launch.divisor = ranks;
    STERNA_TRY(stream->update(launch));
    std::vector<float> found(tensor.elements);
    std::vector<float> expected(tensor.elements);
    STERNA_TRY(average_there.download(*stream, found));
    STERNA_TRY(stream->finish());
    average(tensor.packets(what.packings), expected, best_isa());
    STERNA_TRY(same_floats(found, expected, named(what, t, "averages from sums")));
  }
  return {};
}

}  // namespace sterna::kernels
