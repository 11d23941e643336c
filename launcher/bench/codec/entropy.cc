// The entropy coder's part of `sterna bench codec`: planes to bytes and back, by themselves, and
// the bytes over what independent trits or sums of this distribution need at least.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/entropy/entropy.h"
#include "kernels/trits/scaler.h"
#include "launcher/bench/codec/captured_gradients.h"
#include "launcher/bench/codec/codec.h"
#include "launcher/bench/huge_buffer.h"
#include "launcher/bench/rounds.h"
#include "launcher/cluster_file/cluster_file.h"
#include "launcher/probe/gaussian.h"

namespace sterna::launcher {

namespace {

/// Planes to code, the bytes that they become, and planes to decode these to.
struct Buffers {
  HugeBuffer planes;
  HugeBuffer coded;
  HugeBuffer back;

  static Result<Buffers> allocate(std::size_t elements, std::uint32_t ranks) {
    const std::size_t bytes = kernels::sum_bytes(elements, ranks);
    STERNA_ASSIGN(HugeBuffer planes, HugeBuffer::allocate(bytes));
    STERNA_ASSIGN(HugeBuffer coded, HugeBuffer::allocate(kernels::entropy_room(elements, ranks)));
    STERNA_ASSIGN(HugeBuffer back, HugeBuffer::allocate(bytes));
    return Buffers{std::move(planes), std::move(coded), std::move(back)};
  }
};

struct Coding {
  double bytes = 0;
  double encode_seconds = 0;
  double decode_seconds = 0;
};

Result<Coding> measure(const Buffers& buffers, std::uint32_t ranks, const CodecBenchSetup& setup) {
  std::size_t bytes = 0;
  Result<void> decoded;
  const auto encode = [&] {
    bytes = kernels::entropy_encode(buffers.planes.bytes(), setup.elements, ranks,
                                    buffers.coded.bytes(), setup.isa);
  };
  const auto decode = [&] {
    decoded = kernels::entropy_decode(buffers.coded.bytes().first(bytes), setup.elements, ranks,
                                      buffers.back.bytes(), setup.isa);
  };
  const RoundTimes times =
      RoundTimes::measure({{"encode", encode}, {"decode", decode}}, setup.rounds);
  if (!decoded) return decoded.error().in("what was encoded does not decode");
  if (!std::ranges::equal(buffers.planes.bytes(), buffers.back.bytes())) {
    return Error{Errc::internal, "what was decoded is not what was encoded"};
  }
  return Coding{static_cast<double>(bytes), times.seconds("encode"), times.seconds("decode")};
}

/// The least bytes for independent values that are as frequent as these.
double least_bytes(const std::vector<std::size_t>& counts) {
  double all = 0;
  for (const std::size_t count : counts) all += static_cast<double>(count);
  double bits = 0;
  for (const std::size_t count : counts) {
    if (count != 0)
      bits -= static_cast<double>(count) * std::log2(static_cast<double>(count) / all);
  }
  return bits / 8;
}

std::vector<std::size_t> count_values(std::span<const std::byte> planes, std::uint32_t ranks,
                                      const CodecBenchSetup& setup) {
  std::vector<float> values(setup.elements);
  kernels::decode_sums({ranks, static_cast<float>(ranks), planes}, values, setup.isa);
  std::vector<std::size_t> counts(2 * ranks + 1);
  for (const float value : values)
    ++counts[static_cast<std::size_t>(value + static_cast<float>(ranks))];
  return counts;
}

void add_rates(Figures& figures, const std::string& name, const Coding& coding,
               const CodecBenchSetup& setup) {
  const double gigabytes = static_cast<double>(setup.elements * sizeof(float)) / 1e9;
  figures[name + "_encode_gbps"] = gigabytes / coding.encode_seconds;
  figures[name + "_decode_gbps"] = gigabytes / coding.decode_seconds;
}

/// Trits of either sign, nonzero with probability p.
void draw_trits(float p, const CodecBenchSetup& setup, std::span<float> gradient,
                std::span<std::byte> planes) {
  fill_gaussian(gradient, 1);
  for (float& g : gradient) g = std::copysign(p, g);
  kernels::ternarize(gradient, 1.0F, {.seed = 1}, 0, planes, setup.isa);
}

Result<void> add_trits(const CodecBenchSetup& setup, std::span<float> gradient, Figures& figures) {
  STERNA_ASSIGN(const Buffers buffers, Buffers::allocate(setup.elements, 1));
  const auto elements = static_cast<double>(setup.elements);
  double worst = 0;
  for (const float p : {0.32F, 0.14F, 0.055F, 0.01F}) {
    draw_trits(p, setup, gradient, buffers.planes.bytes());
    STERNA_ASSIGN(const Coding coding, measure(buffers, 1, setup));
    const double over = coding.bytes / least_bytes(count_values(buffers.planes.bytes(), 1, setup));
    figures[fmt::format("entropy_over_limit_at_{}", p)] = over;
    figures[fmt::format("entropy_bits_at_{}", p)] = 8 * coding.bytes / elements;
    if (p == 0.32F) add_rates(figures, "entropy", coding, setup);
    if (p > 0.05F) worst = std::max(worst, over);
  }
  figures["entropy_over_limit"] = worst;
  return {};
}

Result<void> add_sums(const CodecBenchSetup& setup, std::span<float> gradient, Figures& figures) {
  constexpr std::uint32_t kRanks = 2;
  STERNA_ASSIGN(const Buffers buffers, Buffers::allocate(setup.elements, kRanks));
  std::array<std::vector<std::byte>, kRanks> trits;
  std::vector<kernels::Packet> packets;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    fill_gaussian(gradient, rank + 1);
    STERNA_ASSIGN(const float scaler, kernels::scaler(gradient, 2.5F, setup.isa));
    trits[rank].resize(kernels::planes_bytes(setup.elements));
    kernels::ternarize(gradient, scaler, {.seed = 1, .rank = rank}, 0, trits[rank], setup.isa);
    packets.push_back({kernels::Packing::planes, scaler, trits[rank]});
  }
  kernels::sum_trits(packets, buffers.planes.bytes(), setup.isa);
  STERNA_ASSIGN(const Coding coding, measure(buffers, kRanks, setup));
  figures["entropy_sums2_over_limit"] =
      coding.bytes / least_bytes(count_values(buffers.planes.bytes(), kRanks, setup));
  figures["entropy_sums2_bits"] = 8 * coding.bytes / static_cast<double>(setup.elements);
  add_rates(figures, "entropy_sums2", coding, setup);
  return {};
}

/// What training makes: few trits are nonzero, and not equally many everywhere. Of the tensors that
/// are ternarized by default.
Result<void> add_captured(const CodecBenchSetup& setup, Figures& figures) {
  constexpr std::uint64_t kStepsBefore = 100;
  STERNA_ASSIGN(const auto tensors, capture_lenet_gradients(kStepsBefore, [](const auto&) {}));
  double bytes = 0;
  double least = 0;
  double elements = 0;
  double nonzero = 0;
  for (std::uint32_t t = 0; t < tensors.size(); ++t) {
    const std::vector<float>& gradient = tensors[t];
    if (gradient.size() < static_cast<std::size_t>(GradientSection{}.min_size)) continue;
    CodecBenchSetup one = setup;
    one.elements = gradient.size();
    STERNA_ASSIGN(const Buffers buffers, Buffers::allocate(one.elements, 1));
    STERNA_ASSIGN(const float scaler, kernels::scaler(gradient, 2.5F, setup.isa));
    kernels::ternarize(gradient, scaler, {.seed = 1, .tensor = t}, 0, buffers.planes.bytes(),
                       setup.isa);
    STERNA_ASSIGN(const Coding coding, measure(buffers, 1, one));
    const auto counts = count_values(buffers.planes.bytes(), 1, one);
    bytes += coding.bytes;
    least += least_bytes(counts);
    elements += static_cast<double>(gradient.size());
    nonzero += static_cast<double>(counts.front() + counts.back());
  }
  figures["entropy_over_limit_lenet"] = bytes / least;
  figures["entropy_bits_lenet"] = 8 * bytes / elements;
  figures["lenet_nonzero_fraction"] = nonzero / elements;
  return {};
}

}  // namespace

Result<Figures> bench_codec_entropy(const CodecBenchSetup& setup) {
  STERNA_ASSIGN(const HugeBuffer gradient, HugeBuffer::allocate(setup.elements * sizeof(float)));
  Figures figures;
  STERNA_TRY(add_trits(setup, gradient.floats(), figures));
  STERNA_TRY(add_sums(setup, gradient.floats(), figures));
  STERNA_TRY(add_captured(setup, figures));
  return figures;
}

}  // namespace sterna::launcher
