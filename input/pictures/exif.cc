#include "input/pictures/exif.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace sterna::input {

namespace {

constexpr std::array<std::uint8_t, 6> kSignature{'E', 'x', 'i', 'f', 0, 0};
constexpr std::uint16_t kTiffMark = 42;
constexpr std::uint16_t kOrientationTag = 0x0112;
constexpr std::uint16_t kShort = 3;  // the type of a number of 16 bits
constexpr std::size_t kEntryBytes = 12;

/// The numbers of a TIFF file, which says itself in which order their bytes are. Reading beyond the
/// end gives nothing.
class Tiff {
 public:
  explicit Tiff(std::span<const std::uint8_t> bytes)
      : bytes_(bytes), big_(!bytes.empty() && bytes[0] == 'M') {}

  std::optional<std::uint32_t> number(std::uint64_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 | bytes_[at + (big_ ? i : size - 1 - i)];
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool big_;
};

}  // namespace

bool is_exif(std::span<const std::uint8_t> segment) {
  return segment.size() >= kSignature.size() &&
         std::ranges::equal(segment.first(kSignature.size()), kSignature);
}

Orientation exif_orientation(std::span<const std::uint8_t> segment) {
  if (!is_exif(segment)) return {};
  const Tiff tiff(segment.subspan(kSignature.size()));
  const auto directory = tiff.number(4, 4);
  if (tiff.number(2, 2) != kTiffMark || !directory) return {};
  const std::uint32_t entries = tiff.number(*directory, 2).value_or(0);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = std::uint64_t{*directory} + 2 + kEntryBytes * i;
    const auto tag = tiff.number(entry, 2);
    if (!tag) return {};
    if (tag != kOrientationTag) continue;
    if (tiff.number(entry + 2, 2) != kShort) return {};
    return orientation_of(tiff.number(entry + 8, 2).value_or(1));
  }
  return {};
}

}  // namespace sterna::input
