#include "actors/parameters/parameter_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "actors/codecs/codec.h"
#include "actors/parameters/update_rule.h"
#include "kernels/optimizer/optimizer.h"

namespace sterna::actors {
namespace {

Codec codec_for(const GradientSection& gradient, const nets::ParameterSpec& spec) {
  if (spec.role == nets::Role::statistic) return Codec::FP32;
  const auto chosen = gradient.tensors.find(spec.name);
  if (chosen != gradient.tensors.end()) return codec_named(chosen->second);
  const bool packed = spec.count() >= gradient.min_size && (gradient.logits || !spec.logits);
  return packed ? codec_named(gradient.codec) : Codec::FP32;
}

bool usable(const std::vector<float>& constants) {
  return constants.size() == std::size(kernels::StepConstants{}.value) &&
         std::all_of(constants.begin(), constants.end(), [](float c) { return std::isfinite(c); });
}

}  // namespace

ParameterTable::ParameterTable(const std::vector<nets::ParameterSpec>& specs, const JobConfig& job,
                               std::uint32_t servers)
    : shards(servers) {
  for (const nets::ParameterSpec& spec : specs) {
    TableTensor tensor{.spec = spec, .count = spec.count()};
    tensor.frozen = spec.role != nets::Role::statistic && !job.init.trains(spec.name);
    if (!tensor.frozen) tensor.codec = codec_for(job.gradient, spec);
    tensor.ternary = codec_of(tensor.codec).ternary();
    elements += tensor.count;
    tensors.push_back(std::move(tensor));
  }
  // What is ternarized on its way down has a scaler a chunk, which no number of servers may change.
  const bool by_unit = job.gradient.buckets || job.gradient.down == Down::ternary;
  const std::uint64_t most = (by_unit ? 1 : kUnitsPerChunk) * kUnitElements;
  std::vector<std::uint64_t> dealt(shards);  // elements, by shard
  std::uint64_t left = elements;
  for (std::uint32_t t = 0; t < tensors.size(); ++t) {
    TableTensor& tensor = tensors[t];
    tensor.first_chunk = static_cast<std::uint32_t>(chunks.size());
    for (std::uint64_t first = 0; first < tensor.count;) {
      // The last ones are dealt by the unit, so that no shard has a unit more than its fair part.
      const std::uint64_t size = left > shards * most ? most : kUnitElements;
      const std::uint64_t count = std::min(size, tensor.count - first);
      const auto least = std::min_element(dealt.begin(), dealt.end());
      const auto shard = static_cast<std::uint32_t>(least - dealt.begin());
      TableChunk* last = chunks.size() > tensor.first_chunk ? &chunks.back() : nullptr;
      if (last != nullptr && last->shard == shard && last->count + count <= most) {
        last->count += count;
      } else {
        chunks.push_back({.tensor = t, .first = first, .count = count, .shard = shard});
      }
      first += count;
      left -= count;
      *least += count;
    }
    tensor.chunks = static_cast<std::uint32_t>(chunks.size()) - tensor.first_chunk;
    if (!tensor.ternary) continue;
    for (std::uint32_t c = tensor.first_chunk; c < chunks.size(); ++c) {
      if (job.gradient.buckets || c == tensor.first_chunk) {
        const std::uint64_t count = job.gradient.buckets ? chunks[c].count : tensor.count;
        scalers.push_back(
            {.tensor = t, .first = chunks[c].first, .count = count, .shard = chunks[c].shard});
      }
      chunks[c].scaler = static_cast<std::uint32_t>(scalers.size()) - 1;
    }
  }
}

Codec ParameterTable::codec_down(std::uint32_t tensor, const JobConfig& job,
                                 std::uint64_t version) const {
  const Codec up = codec_at(tensor, job, version - 1);
  return codec_of(up).ternary() ? up : Codec::FP32;
}

std::vector<std::uint32_t> ParameterTable::chunks_of(std::uint32_t shard) const {
  std::vector<std::uint32_t> mine;
  for (std::uint32_t c = 0; c < chunks.size(); ++c) {
    if (chunks[c].shard == shard) mine.push_back(c);
  }
  return mine;
}

std::vector<ParameterTable::PullGroup> ParameterTable::pull_groups(Pulled what) const {
  constexpr std::uint64_t kMost = kUnitsPerChunk * kUnitElements;
  constexpr std::size_t kMostChunks = 48;  // each may be a frame, and a message has at most 64
  struct Open {
    PullGroup group;
    std::uint64_t elements = 0;
  };
  std::vector<PullGroup> groups;
  // The small chunks gathered so far, by shard: those that change, and the frozen ones.
  std::vector<std::array<Open, 2>> open(shards);
  const auto close = [&](Open& gathered) {
    if (!gathered.group.chunks.empty()) groups.push_back(std::move(gathered.group));
    gathered = {};
  };
  for (std::uint32_t c = static_cast<std::uint32_t>(chunks.size()); c-- > 0;) {
    const TableChunk& chunk = chunks[c];
    if (!tensors[chunk.tensor].pulled(what)) continue;
    if (chunk.count >= kUnitElements) {
      groups.push_back({.shard = chunk.shard, .frozen = frozen(c), .chunks = {c}});
      continue;
    }
    Open& gathered = open[chunk.shard][frozen(c) ? 1 : 0];
    if (gathered.elements + chunk.count > kMost || gathered.group.chunks.size() >= kMostChunks)
      close(gathered);
    gathered.group.shard = chunk.shard;
    gathered.group.frozen = frozen(c);
    gathered.group.chunks.push_back(c);
    gathered.elements += chunk.count;
  }
  for (auto& of_shard : open) {
    for (Open& gathered : of_shard) close(gathered);
  }
  return groups;
}

std::vector<TableScalers> scalers_by_tensor(const ParameterTable& table) {
  std::vector<TableScalers> scalers(table.tensors.size());
  for (std::uint32_t i = 0; i < table.scalers.size(); ++i) {
    TableScalers& of = scalers[table.scalers[i].tensor];
    if (of.last == 0) of.first = i;
    of.last = i + 1;
  }
  return scalers;
}

std::uint64_t state_bytes(std::uint32_t chunk, const ParameterTable& table, const JobConfig& job) {
  const TableChunk& place = table.chunks[chunk];
  const bool stepped =
      !table.frozen(chunk) && table.tensors[place.tensor].spec.role != nets::Role::statistic;
  const Result<UpdateRule> rule = UpdateRule::make(job);
  const std::size_t slots = stepped && rule ? rule->slots().size() : 0;
  return place.count * sizeof(float) * (1 + slots);
}

std::uint64_t most_bytes(const Pull& question, const ParameterTable& table, const JobConfig& job) {
  const bool gradients = question.kind == PayloadKind::GRADIENT;
  std::uint64_t bytes = 0;
  for (const std::uint32_t chunk : question.chunks) {
    if (question.kind == PayloadKind::STATE) {
      bytes += state_bytes(chunk, table, job);
      continue;
    }
    const TableChunk& place = table.chunks[chunk];
    const Codec codec =
        gradients ? table.codec_down(place.tensor, job, question.version) : question.codec;
    bytes +=
        codec_of(codec).room({.count = place.count, .ranks = gradients ? job.ranks_down() : 1});
  }
  return bytes;
}

Result<Parameters> open_answer(Parameters answer, const Pull& question, const ParameterTable& table,
                               const JobConfig& job, BufferPool& pool, kernels::Isa isa) {
  const bool state = answer.kind == PayloadKind::STATE;
  if (answer.version != question.version || answer.kind != question.kind ||
      answer.chunks.size() != question.chunks.size()) {
    return Error{Errc::malformed, "the answer is to another question"};
  }
  const bool gradients = answer.kind == PayloadKind::GRADIENT;
  if (gradients && (answer.ranks != job.ranks_down() || !usable(answer.constants))) {
    return Error{Errc::malformed, "gradients that no step can be made with"};
  }
  for (std::size_t i = 0; i < question.chunks.size(); ++i) {
    ParameterChunk& chunk = answer.chunks[i];
    const TableChunk& place = table.chunks[question.chunks[i]];
    const bool statistic = table.tensors[place.tensor].spec.role == nets::Role::statistic;
    // Statistics are not rounded.
    const Codec expected = gradients ? table.codec_down(place.tensor, job, answer.version)
                           : state || statistic ? Codec::FP32
                                                : question.codec;
    const auto where = [&] { return fmt::format("chunk {}", question.chunks[i]); };
    // What no step of a server has led to is as it is.
    const bool as_it_is = question.newest && chunk.version <= job.first_step;
    if (chunk.chunk != question.chunks[i] ||
        (chunk.codec != expected && !(as_it_is && chunk.codec == Codec::FP32))) {
      return Error{Errc::malformed, "another chunk or codec than asked for"}.in(where());
    }
    if (question.newest && (chunk.version < question.version || chunk.version > job.steps)) {
      return Error{Errc::malformed, fmt::format("version {}", chunk.version)}.in(where());
    }
    if (!std::isfinite(chunk.scaler) || chunk.scaler < 0) {
      return Error{Errc::malformed, fmt::format("a scaler of {}", chunk.scaler)}.in(where());
    }
    // Parameters are only counted: one that is not finite shows in the loss, and names its step.
    if (chunk.codec == Codec::FP32 && !gradients) {
      const std::uint64_t size =
          state ? state_bytes(chunk.chunk, table, job) : place.count * sizeof(float);
      if (chunk.payload.size() == size) continue;
      return Error{Errc::malformed, "a wrong size"}.in(where());
    }
    const Packed what{.count = place.count, .ranks = gradients ? answer.ranks : 1};
    Result<Bytes> opened = codec_of(chunk.codec).open(chunk.payload, what, pool, isa);
    if (!opened) return Error(opened.error()).in(where());
    chunk.payload = std::move(*opened);
  }
  return answer;
}

}  // namespace sterna::actors
