#include "launcher/bench/codec/codec.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

#include "launcher/bench/memory_speed.h"

namespace sterna::launcher {

namespace {

struct Part {
  std::string_view name;
  Result<Figures> (*measure)(const CodecBenchSetup&);
};

constexpr double kFewest = 65'536;

constexpr std::array kParts{
    Part{"encode", bench_codec_encode},
    Part{"entropy", bench_codec_entropy},
    Part{"sums", bench_codec_sums},
};

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
  std::string names;
  progress("memory");
  STERNA_ASSIGN(Figures figures, measure_memory(setup.elements, setup.isa, setup.rounds));
  bool found = false;
  for (const Part& part : kParts) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", part.name);
    if (!part.name.starts_with(only)) continue;
    found = true;
    progress(part.name);
    STERNA_ASSIGN(const Figures measured, part.measure(setup));
    figures.insert(measured.begin(), measured.end());
  }
  if (!found) {
    return Error{Errc::invalid_argument,
                 fmt::format("no part of this benchmark begins with '{}': {}", only, names)};
  }
  figures["elements"] = static_cast<double>(setup.elements);
  return figures;
}

}  // namespace sterna::launcher
