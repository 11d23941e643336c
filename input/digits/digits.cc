#include "input/digits/digits.h"

#include <fmt/format.h>

#include <span>
#include <string>
#include <system_error>

#include "input/digits/digit_glyphs.h"
#include "input/digits/digit_pen.h"
#include "input/digits/digit_writer.h"
#include "input/formats/idx.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// Drawing over somebody's MNIST would lose it.
Result<void> refuse_other_data(const fs::path& dir) {
  std::error_code ignored;
  if (fs::exists(dir / kDrawnMarker, ignored)) return {};
  for (const Split split : {Split::train, Split::test}) {
    for (const std::string& name : kIdx.files(split)) {
      for (const fs::path& path : {dir / name, dir / (name + ".gz")}) {
        if (!fs::exists(path, ignored)) continue;
        return Error{Errc::already_exists,
                     fmt::format("{} is there and was not drawn by this program; choose another "
                                 "directory for the digits",
                                 path.string())};
      }
    }
  }
  return {};
}

Result<void> write_split(const fs::path& dir, Split split, const Dataset& digits) {
  return kIdx.write(dir, split, digits, {0, digits.count});
}

}  // namespace

Dataset draw_digits(std::uint64_t seed, Split split, std::size_t count,
                    const DigitsProgress& progress) {
  constexpr std::size_t kReportEvery = 1000;
  constexpr std::size_t kPixels = kDigitSide * kDigitSide;
  const Alphabet alphabet = handwritten_digits();
  Dataset digits{.count = count,
                 .rows = kDigitSide,
                 .columns = kDigitSide,
                 .channels = 1,
                 .classes = alphabet.size(),
                 .images = std::vector<std::uint8_t>(count * kPixels),
                 .labels = std::vector<std::uint16_t>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    digits.labels[i] = write_digit(alphabet, seed, split, static_cast<std::uint32_t>(i),
                                   std::span(digits.images).subspan(i * kPixels, kPixels));
    if (progress && ((i + 1) % kReportEvery == 0 || i + 1 == count)) progress(i + 1, count);
  }
  return digits;
}

Result<void> make_digits(const fs::path& dir, const DigitsOptions& options,
                         const DigitsProgress& progress) {
  if (options.train == 0 || options.test == 0) {
    return Error{Errc::invalid_argument, "digits: each split needs at least one image"};
  }
  STERNA_TRY(make_directory(dir));
  STERNA_TRY(refuse_other_data(dir));
  const std::string marker = fmt::format(
      "Digits drawn by `sterna data make digits`, seed {}, {} + {} images. Not MNIST.\n",
      options.seed, options.train, options.test);
  STERNA_TRY(write_atomically(dir / kDrawnMarker, marker));
  const std::size_t total = options.train + options.test;
  const auto report = [&](std::size_t before) -> DigitsProgress {
    if (!progress) return {};
    return [&progress, before, total](std::size_t done, std::size_t) {
      progress(before + done, total);
    };
  };
  STERNA_TRY(write_split(dir, Split::train,
                         draw_digits(options.seed, Split::train, options.train, report(0))));
  return write_split(dir, Split::test,
                     draw_digits(options.seed, Split::test, options.test, report(options.train)));
}

}  // namespace sterna::input
