// The encode half of `sterna bench codec`: a pass over the floats is measured against reading them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernels/trits/encode.h"
#include "kernels/trits/scaler.h"
#include "kernels/trits/ternary.h"
#include "launcher/bench/codec/codec.h"
#include "launcher/bench/huge_buffer.h"
#include "launcher/bench/memory_speed.h"
#include "launcher/bench/pinned_pair.h"
#include "launcher/bench/rounds.h"
#include "launcher/probe/gaussian.h"

namespace sterna::launcher {

namespace {

constexpr float kClip = 2.5F;
constexpr std::size_t kChunk = kernels::kChunkElements;  // and the buckets' size
constexpr kernels::TernaryDraw kDraw{.seed = 1, .step = 1, .rank = 0, .tensor = 0};

/// A part of a tensor that begins at `first`, and where its planes go.
struct Work {
  std::span<const float> gradient;
  std::span<std::byte> planes;
  std::uint64_t first = 0;
  kernels::Isa isa;

  std::size_t chunks() const { return (gradient.size() + kChunk - 1) / kChunk; }
  std::size_t chunk_size(std::size_t begin) const {
    return std::min(kChunk, gradient.size() - begin);
  }
  std::span<std::byte> planes_of(std::size_t begin, std::size_t count) const {
    return planes.subspan(kernels::planes_bytes(begin), kernels::planes_bytes(count));
  }
  Work part(std::size_t begin, std::size_t count) const {
    return {gradient.subspan(begin, count), planes_of(begin, count), first + begin, isa};
  }

  void read() const { keep(read_all(gradient, isa)); }
  void quantize(float s) const { kernels::ternarize(gradient, s, kDraw, first, planes, isa); }
  void encode_tensor() const { quantize(*kernels::scaler(gradient, kClip, isa)); }
  void encode_buckets() const {
    for (std::size_t begin = 0; begin < gradient.size(); begin += kChunk) {
      const std::size_t count = chunk_size(begin);
      keep(*kernels::encode_bucket({gradient, begin, count}, kClip, kDraw, planes_of(begin, count),
                                   isa));
    }
  }
  void encode_last_step(float s) const {
    kernels::GradientStatistics statistics;
    kernels::encode_with_scaler({gradient, 0, gradient.size()}, s, kClip, kDraw, planes, statistics,
                                isa);
    keep(*statistics.scaler(kClip, gradient));
  }
};

/// The full encode with a fresh scaler on two threads: the statistics of either half's chunks, then
/// the scaler, then the trits of either half.
class TwoThreads {
 public:
  explicit TwoThreads(const Work& whole) : whole_(whole), found_(whole.chunks()) {
    const std::size_t half = whole.chunks() / 2 * kChunk;
    halves_ = {whole.part(0, half), whole.part(half, whole.gradient.size() - half)};
  }

  void read() {
    pair_.run([this](int thread) { halves_[thread].read(); });
  }
  void encode() {
    pair_.run([this](int thread) { measure(halves_[thread]); });
    kernels::GradientStatistics statistics;
    for (const kernels::ChunkStatistics& found : found_) statistics.fold(found);
    const float s = *statistics.scaler(kClip, whole_.gradient);
    pair_.run([this, s](int thread) { halves_[thread].quantize(s); });
  }

 private:
  void measure(const Work& half) {
    for (std::size_t begin = 0; begin < half.gradient.size(); begin += kChunk) {
      found_[(half.first + begin) / kChunk] = kernels::measure_chunk(
          half.gradient.subspan(begin, half.chunk_size(begin)), kClip, half.isa);
    }
  }

  Work whole_;
  std::vector<kernels::ChunkStatistics> found_;
  std::array<Work, 2> halves_;
  PinnedPair pair_;
};

}  // namespace

Result<Figures> bench_codec_encode(const CodecBenchSetup& setup) {
  STERNA_ASSIGN(const HugeBuffer gradient, HugeBuffer::allocate(setup.elements * sizeof(float)));
  STERNA_ASSIGN(const HugeBuffer planes,
                HugeBuffer::allocate(kernels::planes_bytes(setup.elements)));
  fill_gaussian(gradient.floats(), 1);
  const Work whole{gradient.floats(), planes.bytes(), 0, setup.isa};
  const float s = *kernels::scaler(whole.gradient, kClip, setup.isa);

  const RoundTimes one =
      RoundTimes::measure({{"read", [&] { whole.read(); }},
                           {"encode_last_step", [&] { whole.encode_last_step(s); }},
                           {"encode_bucket", [&] { whole.encode_buckets(); }},
                           {"encode_tensor", [&] { whole.encode_tensor(); }},
                           {"quantize", [&] { whole.quantize(s); }}},
                          setup.rounds);
  Figures figures;
  for (const char* name : {"encode_last_step", "encode_bucket", "encode_tensor", "quantize"}) {
    figures[std::string(name) + "_over_read"] = one.ratio("read", name);
  }

  TwoThreads two(whole);
  const RoundTimes times = RoundTimes::measure({{"read", [&] { whole.read(); }},
                                                {"read2", [&] { two.read(); }},
                                                {"encode", [&] { whole.encode_tensor(); }},
                                                {"encode2", [&] { two.encode(); }}},
                                               setup.rounds);
  figures["two_thread_speedup"] = times.ratio_of_ratios("encode", "encode2", "read", "read2");
  figures["two_thread_read"] = times.ratio("read", "read2");
  figures["two_thread_encode"] = times.ratio("encode", "encode2");

  const Work cached = whole.part(0, kChunk);
  const auto l2_gbps = [&](const std::function<void()>& run) {
    return static_cast<double>(kChunk * sizeof(float)) / repeated_seconds(run, 100, setup.rounds) /
           1e9;
  };
  figures["read_l2_gbps"] = l2_gbps([&] { cached.read(); });
  figures["encode_last_step_l2_gbps"] = l2_gbps([&] { cached.encode_last_step(s); });
  figures["encode_bucket_l2_gbps"] = l2_gbps([&] { cached.encode_buckets(); });
  figures["encode_tensor_l2_gbps"] = l2_gbps([&] { cached.encode_tensor(); });
  figures["quantize_l2_gbps"] = l2_gbps([&] { cached.quantize(s); });
  return figures;
}

}  // namespace sterna::launcher
