// The encode half of `sterna bench codec`: a pass over the floats is measured against reading them.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/scaler.h"
#include "kernels/ternary.h"
#include "launcher/bench/bench_codec.h"
#include "launcher/bench/huge_buffer.h"
#include "launcher/bench/memory_speed.h"
#include "launcher/bench/rounds.h"

namespace sterna::launcher {

namespace {

constexpr float kClip = 2.5F;
constexpr std::size_t kBucket = 65'536;
constexpr kernels::TernaryDraw kDraw{.seed = 1, .step = 1, .rank = 0, .tensor = 0};

/// A tensor, or a part of it, and where its planes go.
struct Work {
  std::span<const float> gradient;
  std::span<std::byte> planes;
  kernels::Isa isa;

  void quantize(float s) const { kernels::ternarize(gradient, s, kDraw, 0, planes, isa); }

  void encode_tensor() const { quantize(*kernels::scaler(gradient, kClip, isa)); }

  void encode_buckets() const {
    for (std::size_t begin = 0; begin < gradient.size(); begin += kBucket) {
      const auto bucket = gradient.subspan(begin, std::min(kBucket, gradient.size() - begin));
      const float s = *kernels::scaler(bucket, kClip, isa);
      kernels::ternarize(
          bucket, s, kDraw, begin,
          planes.subspan(kernels::planes_bytes(begin), kernels::planes_bytes(bucket.size())), isa);
    }
  }
};

}  // namespace

Result<Figures> bench_codec_encode(const CodecBenchSetup& setup) {
  STERNA_ASSIGN(const HugeBuffer gradient, HugeBuffer::allocate(setup.elements * sizeof(float)));
  STERNA_ASSIGN(const HugeBuffer planes,
                HugeBuffer::allocate(kernels::planes_bytes(setup.elements)));
  fill_gaussian(gradient.floats(), 1);
  const Work whole{gradient.floats(), planes.bytes(), setup.isa};
  const float s = *kernels::scaler(whole.gradient, kClip, setup.isa);

  const RoundTimes times =
      RoundTimes::measure({{"read", [&] { keep(read_all(whole.gradient, setup.isa)); }},
                           {"encode_tensor", [&] { whole.encode_tensor(); }},
                           {"encode_bucket", [&] { whole.encode_buckets(); }},
                           {"quantize", [&] { whole.quantize(s); }}},
                          setup.rounds);
  Figures figures;
  for (const char* name : {"encode_tensor", "encode_bucket", "quantize"}) {
    figures[std::string(name) + "_over_read"] = times.ratio("read", name);
  }

  const std::size_t resident = std::min(kBucket, setup.elements);
  const Work cached{whole.gradient.first(resident),
                    whole.planes.first(kernels::planes_bytes(resident)), setup.isa};
  const auto l2_gbps = [&](const std::function<void()>& run) {
    return static_cast<double>(resident * sizeof(float)) /
           repeated_seconds(run, 100, setup.rounds) / 1e9;
  };
  figures["read_l2_gbps"] = l2_gbps([&] { keep(read_all(cached.gradient, setup.isa)); });
  figures["encode_tensor_l2_gbps"] = l2_gbps([&] { cached.encode_tensor(); });
  figures["quantize_l2_gbps"] = l2_gbps([&] { cached.quantize(s); });
  return figures;
}

}  // namespace sterna::launcher
