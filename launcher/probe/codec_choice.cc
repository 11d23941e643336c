#include "launcher/probe/codec_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "actors/codecs/codec.h"
#include "actors/parameters/parameter_table.h"
#include "kernels/trits/ternary.h"
#include "nets/describe_net.h"

namespace sterna::launcher {
namespace {

/// Numbers as they are.
const std::string kNone{actors::codec_of(actors::Codec::FP32).name};
constexpr double kWorthIt = 0.97;
constexpr std::uint64_t kChunk = actors::kUnitElements * actors::kUnitsPerChunk;

std::uint64_t rounded_up(std::uint64_t count, std::uint64_t unit) {
  return (count + unit - 1) / unit * unit;
}

double wire_seconds(double up, double down, const LinkCost& link) {
  const double one_way = up > down ? link.up * (up - down) : link.down * (down - up);
  return link.both * std::min(up, down) + one_way;
}

}  // namespace

double exchange_seconds(const CodecCost& codec, std::uint64_t elements,
                        const ExchangeCosts& costs) {
  const bool ternary = actors::makes_trits(codec.codec);
  const auto n = static_cast<double>(elements);
  // Planes are whole blocks.
  const auto sent = ternary ? static_cast<double>(rounded_up(elements, kernels::kPlaneBlock)) : n;
  const double wire =
      wire_seconds(sent * codec.bytes_up * static_cast<double>(costs.ranks_per_worker),
                   sent * codec.bytes_down, costs.link);
  const auto chunks =
      static_cast<double>(std::max<std::uint64_t>(1, rounded_up(elements, kChunk) / kChunk));
  const double servers = std::min(chunks, static_cast<double>(costs.servers));
  const double worker = n * codec.worker_seconds;
  const double server = n * codec.server_seconds / servers;
  const double compute = costs.one_host ? worker + server : std::max(worker, server);
  const double round_trips = ternary && costs.agrees ? 2 : 1;
  const double hidden = costs.one_host ? 0 : std::min(wire, compute) * (1 - 1 / chunks);
  return round_trips * costs.link.round_trip + wire + compute - hidden;
}

std::map<std::string, std::string> choose_codecs(const std::vector<ChoosableTensor>& tensors,
                                                 const ExchangeCosts& costs) {
  std::map<std::string, std::string> chosen;
  for (const ChoosableTensor& tensor : tensors) {
    const auto seconds = [&](const CodecCost& codec) {
      return exchange_seconds(codec, tensor.elements, costs);
    };
    const auto floats = std::find_if(costs.codecs.begin(), costs.codecs.end(),
                                     [](const CodecCost& one) { return one.codec == kNone; });
    const auto best = std::min_element(
        costs.codecs.begin(), costs.codecs.end(),
        [&](const CodecCost& a, const CodecCost& b) { return seconds(a) < seconds(b); });
    const bool worth_it =
        floats == costs.codecs.end() || seconds(*best) < kWorthIt * seconds(*floats);
    chosen[tensor.name] = worth_it ? best->codec : kNone;
  }
  return chosen;
}

Result<std::vector<ChoosableTensor>> choosable_tensors(const ClusterFile& file,
                                                       const nets::ImageClasses& images) {
  const GradientSection& gradient = file.gradient;
  STERNA_ASSIGN(
      const nets::NetDescription net,
      nets::describe_net(
          {.name = file.job.net, .images = images, .hidden = file.job.hidden, .batch = 1}));
  std::vector<ChoosableTensor> tensors;
  for (const nets::ParameterSpec& spec : net.parameters) {
    const bool too_small = spec.count() < gradient.min_size;
    if (gradient.tensors.contains(spec.name) || too_small || (spec.logits && !gradient.logits) ||
        spec.role == nets::Role::statistic || !file.init.trains(spec.name)) {
      continue;
    }
    tensors.push_back({spec.name, spec.count()});
  }
  return tensors;
}

GradientSection with_choice(const GradientSection& gradient,
                            const std::map<std::string, std::string>& chosen) {
  GradientSection section = gradient;
  section.tensors.insert(chosen.begin(), chosen.end());
  // It is no tensor's any more: each is named, or stays fp32 by another key. But a file whose
  // averages travel as sums of trits must name a codec that makes some.
  const auto packed = std::find_if(chosen.begin(), chosen.end(),
                                   [](const auto& one) { return one.second != kNone; });
  section.codec = packed == chosen.end() ? kNone : packed->second;
  if (gradient.down == actors::Down::average && !actors::makes_trits(section.codec)) {
    const auto trits =
        std::find_if(gradient.allow.begin(), gradient.allow.end(), actors::makes_trits);
    if (trits != gradient.allow.end()) section.codec = *trits;
  }
  return section;
}

std::string choice_line(const std::map<std::string, std::string>& chosen, const LinkCost& link) {
  std::map<std::string, int> tensors;
  for (const auto& [tensor, codec] : chosen) ++tensors[codec];
  std::vector<std::string> parts;
  parts.reserve(tensors.size());
  for (const auto& [codec, count] : tensors) {
    parts.push_back(fmt::format("{} for {} tensor{}", codec, count, count == 1 ? "" : "s"));
  }
  constexpr double kGigabits = 8e-9;
  return fmt::format("{}: {:.3g} Gbit/s up, {:.3g} Gbit/s down, {:.2g} ms round trip",
                     fmt::join(parts, ", "), kGigabits / link.up, kGigabits / link.down,
                     link.round_trip * 1e3);
}

}  // namespace sterna::launcher
