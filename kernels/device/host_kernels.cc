#include "kernels/device/host_kernels.h"

#include <algorithm>
#include <array>

#include "kernels/optimizer/update_device.h"
#include "kernels/sums/bf16.h"
#include "kernels/sums/sums_device.h"
#include "kernels/trits/statistics_device.h"
#include "kernels/trits/ternary_device.h"

namespace sterna::kernels {
namespace {

constexpr HostWarp kWarp;
constexpr auto kBlock = static_cast<std::uint32_t>(kPlaneBlock);

template <bool kSums, bool kTrits>
void run_chunk(const EncodeLaunch& launch, const ChunkWork& chunk) {
  const TensorWork& tensor = launch.tensors[chunk.work];
  std::array<SigmaSums, kSigmaBlocksPerChunk> blocks;
  ChunkMeasured measured;
  for (std::uint32_t pair = 0; pair < kWarpsPerChunk; ++pair) {
    const auto put = [&](std::uint32_t half, const SigmaSums& block) {
      blocks[2 * pair + half] = block;
    };
    PairMeasured found;
    if constexpr (kTrits) {
      const float scaler = *tensor.scaler;
      const ChunkPass pass{
          chunk.values, chunk.count,           draw_of(*launch.draw, tensor.tensor, chunk.first),
          scaler,       reciprocal_of(scaler), chunk.planes};
      found = ternarize_pair<kSums>(kWarp, pass, pair, put);
    } else {
      found = measure_pair<kSums>(kWarp, chunk.values, chunk.count, pair, put);
    }
    measured.largest = std::max(measured.largest, found.largest);
    measured.saturated += found.saturated;
  }
  if (kSums) measured.sums = add_in_order(blocks.data(), kSigmaBlocksPerChunk);
  tensor.measured[chunk.chunk] = measured;
}

/// The chunks in the order of the table, then each tensor whose last chunk was among them.
template <bool kTrits>
void measure(const EncodeLaunch& launch) {
  for (std::uint32_t i = 0; i < launch.count; ++i) {
    const ChunkWork& chunk = launch.chunks[i];
    const auto run = clips(launch.clip) ? run_chunk<true, kTrits> : run_chunk<false, kTrits>;
    run(launch, chunk);
    TensorWork& tensor = launch.tensors[chunk.work];
    if (++tensor.arrived < tensor.chunks) continue;
    tensor.arrived = 0;
    TensorMeasured all;
    for (std::uint32_t c = 0; c < tensor.chunks; ++c) {
      const ChunkMeasured& one = tensor.measured[c];
      all.sums.sum += one.sums.sum;
      all.sums.squares += one.sums.squares;
      all.largest = std::max(all.largest, one.largest);
      all.saturated += one.saturated;
    }
    make_scaler(all, tensor.elements, launch.clip);
    *tensor.found = all;
    if (tensor.made != nullptr) *tensor.made = all.scaler;
  }
}

/// Calls f(block, its elements) for each block of 512 elements.
template <class F>
void for_blocks(std::uint32_t elements, F f) {
  for (std::uint32_t block = 0; block * kBlock < elements; ++block) {
    f(block, std::min(kBlock, elements - block * kBlock));
  }
}

void encode_chunk(EncodePass pass, const EncodeLaunch& launch, const ChunkWork& chunk) {
  const TensorWork& tensor = launch.tensors[chunk.work];
  switch (pass) {
    case EncodePass::measure:
    case EncodePass::ternarize_and_measure:
    case EncodePass::read:
      return;
    case EncodePass::ternarize: {
      const BlockDraw first = draw_of(*launch.draw, tensor.tensor, chunk.first);
      const float k = reciprocal_of(*tensor.scaler);
      return for_blocks(chunk.count, [&](std::uint32_t block, std::uint32_t count) {
        BlockDraw draw = first;
        draw.counter0 += block * kDrawsPerBlock;
        ternarize_block(kWarp, chunk.values + block * kPlaneBlock, count, draw, k,
                        chunk.planes + block * kPlaneBlockBytes);
      });
    }
    case EncodePass::take_in:
      for (std::uint32_t i = 0; i < chunk.count; ++i) chunk.values[i] += chunk.incoming[i];
      return;
    case EncodePass::keep_error: {
      const float scaler = stands_for(tensor, *tensor.scaler, launch.clip);
      return for_blocks(chunk.count, [&](std::uint32_t block, std::uint32_t count) {
        keep_error_of_block(kWarp, chunk.planes + block * kPlaneBlockBytes, count, scaler,
                            chunk.values + block * kPlaneBlock);
      });
    }
  }
}

template <std::size_t kPlanes, std::uint32_t kWords>
void sum_work(const SumLaunch& launch, const SumWork& work) {
  const auto planes = static_cast<std::uint32_t>(sum_planes(launch.ranks));
  for (std::uint32_t block = 0; block < work.blocks; ++block) {
    for (std::uint32_t word = 0; word < kRows; word += kWords) {
      sum_words<kPlanes, kWords>(work.packets, launch.ranks, work.first_block + block, word, planes,
                                 work.sums + std::size_t{block} * planes * kPlanePart);
    }
  }
}

template <class Rule>
void update_work(const UpdateLaunch& launch, const UpdateWork& work) {
  DeviceStep step;
  if (Rule::kReads) step = *launch.step;
  for_blocks(work.count, [&](std::uint32_t block, std::uint32_t) {
    if (launch.from_sums) {
      update_block<Rule>(kWarp, SumSource{work.sums, work.scaler, launch.ranks}, work, block, step);
    } else {
      update_block<Rule>(kWarp, PacketSource{work.packets, launch.ranks, divisor_of(launch)}, work,
                         block, step);
    }
  });
}

using UpdateFunction = void (*)(const UpdateLaunch& launch, const UpdateWork& work);

UpdateFunction update_of(DeviceRule rule) {
  switch (rule) {
    case DeviceRule::average:
      break;
    case DeviceRule::gd:
      return update_work<GdRule>;
    case DeviceRule::momentum:
      return update_work<MomentumRule>;
    case DeviceRule::nesterov:
      return update_work<NesterovRule>;
    case DeviceRule::adam:
      return update_work<AdamRule>;
    case DeviceRule::adamw:
      return update_work<AdamWRule>;
    case DeviceRule::rmsprop:
      return update_work<RmspropRule>;
    case DeviceRule::adagrad:
      return update_work<AdagradRule>;
  }
  return update_work<AverageRule>;
}

}  // namespace

void host_encode(EncodePass pass, const EncodeLaunch& launch) {
  if (pass == EncodePass::measure) return measure<false>(launch);
  if (pass == EncodePass::ternarize_and_measure) return measure<true>(launch);
  for (std::uint32_t i = 0; i < launch.count; ++i) encode_chunk(pass, launch, launch.chunks[i]);
}

void host_encode_bf16(const EncodeLaunch& launch) {
  for (std::uint32_t c = 0; c < launch.count; ++c) {
    const ChunkWork& chunk = launch.chunks[c];
    auto* const out = reinterpret_cast<std::uint16_t*>(chunk.planes);
    const bool keeps_error = launch.tensors[chunk.work].fed_back != 0;
    for (std::uint32_t i = 0; i < chunk.count; ++i) out[i] = round_element(chunk, i, keeps_error);
  }
}

void host_sum_trits(const SumLaunch& launch) {
  const bool few = sum_planes(launch.ranks) <= kFewPlanes;
  const auto run = few ? sum_work<kFewPlanes, 4> : sum_work<kAllPlanes, 1>;
  for (std::uint32_t i = 0; i < launch.count; ++i) run(launch, launch.work[i]);
}

void host_update(const UpdateLaunch& launch) {
  const UpdateFunction run = update_of(launch.rule);
  for (std::uint32_t i = 0; i < launch.count; ++i) run(launch, launch.work[i]);
}

}  // namespace sterna::kernels
