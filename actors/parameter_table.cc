#include "actors/parameter_table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "kernels/optimizer.h"
#include "kernels/sums.h"
#include "kernels/ternary.h"

namespace sterna::actors {
namespace {

Codec codec_of(const GradientConfig& gradient, std::uint64_t count, std::size_t index,
               std::size_t tensors) {
  const bool logits = index + 2 >= tensors;
  const bool ternary = gradient.codec == Codec::TERNARY && count >= gradient.min_size &&
                       (gradient.logits || !logits);
  return ternary ? Codec::TERNARY : Codec::FP32;
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
    tensor.codec = codec_of(job.gradient, tensor.count, tensors.size(), specs.size());
    elements += tensor.count;
    tensors.push_back(std::move(tensor));
  }
  const std::uint64_t most = (job.gradient.buckets ? 1 : kUnitsPerChunk) * kUnitElements;
  std::uint64_t before = 0;  // elements dealt so far
  for (std::uint32_t t = 0; t < tensors.size(); ++t) {
    TableTensor& tensor = tensors[t];
    tensor.first_chunk = static_cast<std::uint32_t>(chunks.size());
    for (std::uint64_t first = 0; first < tensor.count; first += kUnitElements) {
      const std::uint64_t count = std::min(kUnitElements, tensor.count - first);
      // The unit's middle decides, so that each shard is within half a unit of its fair part.
      const auto shard = static_cast<std::uint32_t>((2 * before + count) * shards / (2 * elements));
      TableChunk* last = chunks.size() > tensor.first_chunk ? &chunks.back() : nullptr;
      if (last != nullptr && last->shard == shard && last->count < most) {
        last->count += count;
      } else {
        chunks.push_back({.tensor = t, .first = first, .count = count, .shard = shard});
      }
      before += count;
    }
    tensor.chunks = static_cast<std::uint32_t>(chunks.size()) - tensor.first_chunk;
    if (tensor.codec != Codec::TERNARY) continue;
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

std::uint64_t ParameterTable::packet_bytes(const TableChunk& chunk) const {
  return tensors[chunk.tensor].codec == Codec::TERNARY ? kernels::planes_bytes(chunk.count)
                                                       : chunk.count * sizeof(float);
}

std::vector<std::uint32_t> ParameterTable::chunks_of(std::uint32_t shard) const {
  std::vector<std::uint32_t> mine;
  for (std::uint32_t c = 0; c < chunks.size(); ++c) {
    if (chunks[c].shard == shard) mine.push_back(c);
  }
  return mine;
}

std::vector<ParameterTable::PullGroup> ParameterTable::pull_groups() const {
  constexpr std::uint64_t kMost = kUnitsPerChunk * kUnitElements;
  constexpr std::size_t kMostChunks = 48;  // each may be a frame, and a message has at most 64
  struct Open {
    PullGroup group;
    std::uint64_t elements = 0;
  };
  std::vector<PullGroup> groups;
  std::vector<Open> open(shards);  // the small chunks gathered so far, by shard
  const auto close = [&](Open& gathered) {
    if (!gathered.group.chunks.empty()) groups.push_back(std::move(gathered.group));
    gathered = {};
  };
  for (std::uint32_t c = static_cast<std::uint32_t>(chunks.size()); c-- > 0;) {
    const TableChunk& chunk = chunks[c];
    if (chunk.count >= kUnitElements) {
      groups.push_back({.shard = chunk.shard, .chunks = {c}});
      continue;
    }
    Open& gathered = open[chunk.shard];
    if (gathered.elements + chunk.count > kMost || gathered.group.chunks.size() >= kMostChunks)
      close(gathered);
    gathered.group.shard = chunk.shard;
    gathered.group.chunks.push_back(c);
    gathered.elements += chunk.count;
  }
  for (Open& gathered : open) close(gathered);
  return groups;
}

Result<void> check_answer(const Parameters& answer, const Pull& question,
                          const ParameterTable& table, const JobConfig& job) {
  if (answer.version != question.version || answer.kind != question.kind ||
      answer.chunks.size() != question.chunks.size()) {
    return Error{Errc::malformed, "the answer is to another question"};
  }
  const bool average = answer.kind == PayloadKind::GRADIENT;
  if (average && (answer.ranks != job.ranks || !usable(answer.constants))) {
    return Error{Errc::malformed, "an average that no step can be made with"};
  }
  for (std::size_t i = 0; i < question.chunks.size(); ++i) {
    const ParameterChunk& chunk = answer.chunks[i];
    const TableChunk& place = table.chunks[question.chunks[i]];
    const bool sums = average && table.tensors[place.tensor].codec == Codec::TERNARY;
    const std::size_t size =
        sums ? kernels::sum_bytes(place.count, job.ranks) : place.count * sizeof(float);
    if (chunk.chunk != question.chunks[i] || chunk.codec != (sums ? Codec::SUMS : Codec::FP32) ||
        chunk.payload.size() != size) {
      return Error{Errc::malformed, fmt::format("chunk {} has a wrong size", question.chunks[i])};
    }
    if (!sums) continue;
    if (!std::isfinite(chunk.scaler) || chunk.scaler < 0) {
      return Error{Errc::malformed,
                   fmt::format("chunk {}: a scaler of {}", chunk.chunk, chunk.scaler)};
    }
    const Result<void> checked = kernels::check_sums(chunk.payload.view(), place.count, job.ranks);
    if (!checked) return Error(checked.error()).in(fmt::format("chunk {}", chunk.chunk));
  }
  return {};
}

}  // namespace sterna::actors
