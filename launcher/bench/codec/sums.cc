// The server's half of `sterna bench codec`: eight ranks' trits become one sum or one step, beside
// the same work on their fp32 gradients. The fp32 contenders are kernels of the same quality, and
// every rank's operands lie apart, as they do when they come from a network.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/isa/avx2.h"
#include "kernels/isa/avx512.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/sums/sums.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/ternary.h"
#include "launcher/bench/codec/codec.h"
#include "launcher/bench/huge_buffer.h"
#include "launcher/bench/rounds.h"
#include "launcher/probe/gaussian.h"

namespace sterna::launcher {

namespace {

constexpr std::size_t kRanks = 8;
constexpr std::size_t kStepsAtOnce = 4;
constexpr std::size_t kAvx512Lanes = 16;  // floats of a vector
constexpr std::size_t kAvx2Lanes = 8;

/// out += x, for whole vectors.
void add_plain(const float* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] += x[i];
}

STERNA_AVX2 void add_avx2(const float* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; i += kAvx2Lanes) {
    _mm256_store_ps(out + i, _mm256_add_ps(_mm256_load_ps(out + i), _mm256_load_ps(x + i)));
  }
}

STERNA_AVX512 void add_avx512(const float* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; i += kAvx512Lanes) {
    _mm512_store_ps(out + i, _mm512_add_ps(_mm512_load_ps(out + i), _mm512_load_ps(x + i)));
  }
}

/// out = the sum of all ranks, each element read and written once.
void add_all_plain(const float* const* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    float sum = x[0][i];
    for (std::size_t rank = 1; rank < kRanks; ++rank) sum += x[rank][i];
    out[i] = sum;
  }
}

STERNA_AVX2 void add_all_avx2(const float* const* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; i += kAvx2Lanes) {
    __m256 sum = _mm256_load_ps(x[0] + i);
    for (std::size_t rank = 1; rank < kRanks; ++rank) {
      sum = _mm256_add_ps(sum, _mm256_load_ps(x[rank] + i));
    }
    _mm256_stream_ps(out + i, sum);
  }
  _mm_sfence();
}

STERNA_AVX512 void add_all_avx512(const float* const* x, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; i += kAvx512Lanes) {
    __m512 sum = _mm512_load_ps(x[0] + i);
    for (std::size_t rank = 1; rank < kRanks; ++rank) {
      sum = _mm512_add_ps(sum, _mm512_load_ps(x[rank] + i));
    }
    _mm512_stream_ps(out + i, sum);
  }
  _mm_sfence();
}

/// What eight ranks have of one tensor: fp32, and trits of them.
struct Ranks {
  std::vector<HugeBuffer> gradients;
  std::vector<HugeBuffer> planes;
  std::vector<float> scalers;

  static Result<Ranks> draw(const CodecBenchSetup& setup, std::size_t elements) {
    Ranks ranks;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      STERNA_ASSIGN(HugeBuffer gradient, HugeBuffer::allocate(elements * sizeof(float)));
      STERNA_ASSIGN(HugeBuffer planes, HugeBuffer::allocate(kernels::planes_bytes(elements)));
      fill_gaussian(gradient.floats(), rank + 1);
      STERNA_ASSIGN(const float scaler, kernels::scaler(gradient.floats(), 2.5F, setup.isa));
      kernels::ternarize(gradient.floats(), scaler, {.seed = 1, .rank = rank}, 0, planes.bytes(),
                         setup.isa);
      ranks.gradients.push_back(std::move(gradient));
      ranks.planes.push_back(std::move(planes));
      ranks.scalers.push_back(scaler);
    }
    return ranks;
  }

  std::array<kernels::Packet, kRanks> packets() const {
    std::array<kernels::Packet, kRanks> packets;
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      packets[rank] = {kernels::Packing::planes, scalers[rank], planes[rank].bytes()};
    }
    return packets;
  }
};

/// Row 4: the sums of trits with a shared scaler over eight fp32 additions. An addition is a pass
/// of its own, out += x of one rank, as servers make them that add each gradient when it comes;
/// `aggregate8_speedup_over_fused` is over one pass that waits for all eight.
Result<Figures> bench_aggregate(const Ranks& ranks, std::size_t elements,
                                const CodecBenchSetup& setup) {
  STERNA_ASSIGN(const HugeBuffer sums, HugeBuffer::allocate(kernels::sum_bytes(elements, kRanks)));
  STERNA_ASSIGN(const HugeBuffer out, HugeBuffer::allocate(elements * sizeof(float)));
  const auto add = kernels::twin(setup.isa, add_plain, add_avx2, add_avx512);
  const auto add_all = kernels::twin(setup.isa, add_all_plain, add_all_avx2, add_all_avx512);
  const auto packets = ranks.packets();
  std::array<const float*, kRanks> gradients{};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    gradients[rank] = ranks.gradients[rank].floats().data();
  }
  const RoundTimes times = RoundTimes::measure(
      {{"trits", [&] { kernels::sum_trits(packets, sums.bytes(), setup.isa); }},
       {"fp32",
        [&] {
          for (const float* x : gradients) add(x, elements, out.floats().data());
        }},
       {"fused", [&] { add_all(gradients.data(), elements, out.floats().data()); }}},
      setup.rounds);
  return Figures{{"aggregate8_speedup", times.ratio("fp32", "trits")},
                 {"aggregate8_speedup_over_fused", times.ratio("fused", "trits")},
                 {"aggregate8_ms", times.seconds("trits") * 1e3}};
}

/// Row 5: one momentum step from eight packets with scalers of their own over the same step from
/// one fp32 gradient. `step_sums8_over_momentum`: from the sums of all eight, as a worker steps
/// that gets the average; `settle4_over_momentum`: the same of four steps at once, each.
Result<Figures> bench_fused(const Ranks& ranks, std::size_t elements,
                            const CodecBenchSetup& setup) {
  STERNA_ASSIGN(const HugeBuffer current, HugeBuffer::allocate(elements * sizeof(float)));
  STERNA_ASSIGN(const HugeBuffer next, HugeBuffer::allocate(elements * sizeof(float)));
  STERNA_ASSIGN(const HugeBuffer slot, HugeBuffer::allocate(elements * sizeof(float)));
  STERNA_ASSIGN(const HugeBuffer sums, HugeBuffer::allocate(kernels::sum_bytes(elements, kRanks)));
  STERNA_ASSIGN(const kernels::Optimizer momentum, kernels::find_optimizer("momentum"));
  fill_gaussian(current.floats(), kRanks + 1);
  const std::array slots{slot.floats()};
  const kernels::Parameters parameters{current.floats(), slots, next.floats()};
  const kernels::UpdateOptions options{
      .optimizer = momentum, .constants = momentum.constants({{"momentum", 0.9}})(0.01, 0)};
  const auto packets = ranks.packets();
  kernels::sum_trits(packets, sums.bytes(), setup.isa);
  const kernels::SumStep step{{kRanks, ranks.scalers.front(), sums.bytes()}, options};
  const std::vector<kernels::SumStep> several(kStepsAtOnce, step);
  const std::array one{kernels::Packet{kernels::Packing::fp32, 0, ranks.gradients.front().bytes()}};
  const RoundTimes times = RoundTimes::measure(
      {{"fp32", [&] { kernels::update(one, options, parameters, setup.isa); }},
       {"trits", [&] { kernels::update(packets, options, parameters, setup.isa); }},
       {"sums", [&] { kernels::update(std::span(&step, 1), parameters, setup.isa); }},
       {"several", [&] { kernels::update(several, parameters, setup.isa); }}},
      setup.rounds);
  return Figures{{"fused8_over_momentum", times.ratio("trits", "fp32")},
                 {"fused8_ms", times.seconds("trits") * 1e3},
                 {"momentum_ms", times.seconds("fp32") * 1e3},
                 {"step_sums8_over_momentum", times.ratio("sums", "fp32")},
                 {"settle4_over_momentum", times.ratio("several", "fp32") / kStepsAtOnce}};
}

}  // namespace

Result<Figures> bench_codec_sums(const CodecBenchSetup& setup) {
  const std::size_t elements = setup.elements / kernels::kPlaneBlock * kernels::kPlaneBlock;
  STERNA_ASSIGN(const Ranks ranks, Ranks::draw(setup, elements));
  STERNA_ASSIGN(Figures figures, bench_aggregate(ranks, elements, setup));
  STERNA_ASSIGN(const Figures fused, bench_fused(ranks, elements, setup));
  figures.insert(fused.begin(), fused.end());
  return figures;
}

}  // namespace sterna::launcher
