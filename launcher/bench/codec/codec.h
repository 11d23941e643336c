// `sterna bench codec`: the codec's kernels beside what this machine's memory gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/isa/isa.h"
#include "launcher/bench/figures.h"

namespace sterna::launcher {

/// What every part measures with.
struct CodecBenchSetup {
  std::size_t elements = 25'600'000;  ///< of the tensor; a part may round it down to whole blocks
  int rounds = 15;                    ///< of its interleaved contenders, medians over them
  kernels::Isa isa = kernels::best_isa();
};

/// The key `elements`, the machine's own `read_gbps` and `memcpy_gbps`, and the figures of every
/// part whose name begins with `only`. To add a part: its function below, and a line in
/// codec.cc. Errors: invalid_argument for no part.
Result<Figures> bench_codec(const CodecBenchSetup& setup, const std::string& only,
                            const BenchProgress& progress);

/// "25.6M", "4096k", "65536": at least 65,536 elements.
Result<std::size_t> parse_elements(std::string_view text);

/// The full encode and its passes, on one thread and on two.
Result<Figures> bench_codec_encode(const CodecBenchSetup& setup);

/// Planes to entropy-coded bytes and back, on one thread, and the bytes over their limit.
Result<Figures> bench_codec_entropy(const CodecBenchSetup& setup);

/// Eight ranks' trits to their sum, and to an optimizer's step, beside the same from fp32.
Result<Figures> bench_codec_sums(const CodecBenchSetup& setup);

}  // namespace sterna::launcher
