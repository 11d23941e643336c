#include "launcher/bench/codec/codec.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

#include "launcher/bench/codec/parts.h"
#include "launcher/bench/memory_speed.h"

namespace sterna::launcher {

namespace {

constexpr double kFewest = 65'536;

}  // namespace

Result<std::size_t> parse_elements(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  const std::string_view rest(unit, static_cast<std::size_t>(end - unit));
  number *= rest == "k" ? 1e3 : rest == "M" ? 1e6 : rest == "G" ? 1e9 : 1;
  const bool known = rest.empty() || rest == "k" || rest == "M" || rest == "G";
  // Fewer measure the caches, and more than 2^36 no tensor has.
  if (error != std::errc{} || !known || !(number >= kFewest && number < 0x1p36)) {
    return Error{Errc::invalid_argument,
                 fmt::format("'{}' is no number of elements from 65536, e.g. 25.6M", text)};
  }
  return static_cast<std::size_t>(number);
}

Result<Figures> bench_codec(const CodecBenchSetup& setup, const std::string& only,
                            const BenchProgress& progress) {
  const auto part = [&](std::string_view name,
                        Result<Figures> (*figures_of)(const CodecBenchSetup&)) {
    return BenchPart{name, [&setup, figures_of] { return figures_of(setup); }};
  };
  STERNA_ASSIGN(Figures figures, measure_parts({part("encode", bench_codec_encode),
                                                part("entropy", bench_codec_entropy),
                                                part("sums", bench_codec_sums)},
                                               only, progress));
  progress("memory");
  STERNA_ASSIGN(const Figures memory, measure_memory(setup.elements, setup.isa, setup.rounds));
  figures.insert(memory.begin(), memory.end());
  figures["elements"] = static_cast<double>(setup.elements);
  return figures;
}

}  // namespace sterna::launcher
