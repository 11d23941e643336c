#include "input/records/crc32c.h"

#include <nmmintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace sterna::input {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // bits reversed: the lowest is that of x^31
constexpr std::uint32_t kMaskDelta = 0xa282ead8;   // TensorFlow, lib/hash/crc32c.h

using Table = std::array<std::uint32_t, 256>;

/// tables[k][b]: what byte b does to a CRC when k more bytes follow it ("slicing by 8").
constexpr std::array<Table, 8> make_slices() {
  std::array<Table, 8> slices{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    slices[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = slices[k - 1][byte];
      slices[k][byte] = crc >> 8 ^ slices[0][crc & 0xff];
    }
  }
  return slices;
}
constexpr std::array<Table, 8> kSlices = make_slices();

/// A linear map of CRCs: column i is what becomes of bit i.
using Matrix = std::array<std::uint32_t, 32>;

constexpr std::uint32_t mapped(const Matrix& matrix, std::uint32_t crc) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; crc != 0; ++i, crc >>= 1) out ^= crc & 1 ? matrix[i] : 0;
  return out;
}

/// What `zeros` bytes of zero, a power of two, do to a CRC: four tables, one for each of its bytes.
constexpr std::array<Table, 4> make_shift(std::size_t zeros) {
  Matrix matrix{};
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t crc = std::uint32_t{1} << i;
    matrix[i] = crc >> 8 ^ kSlices[0][crc & 0xff];
  }
  for (std::size_t done = 1; done < zeros; done *= 2) {
    const Matrix once = matrix;
    for (std::size_t i = 0; i < 32; ++i) matrix[i] = mapped(once, once[i]);
  }
  std::array<Table, 4> shift{};
  for (std::uint32_t k = 0; k < 4; ++k) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) shift[k][byte] = mapped(matrix, byte << 8 * k);
  }
  return shift;
}

// The instruction takes 3 cycles and one can start in each, so three stretches are summed side by
// side and joined: long ones, where joining costs nothing, then short ones for what is left.
constexpr std::size_t kLong = 8192;
constexpr std::size_t kShort = 256;
constexpr std::array<Table, 4> kShiftLong = make_shift(kLong);
constexpr std::array<Table, 4> kShiftShort = make_shift(kShort);

std::uint32_t shifted(const std::array<Table, 4>& shift, std::uint64_t crc) {
  return shift[0][crc & 0xff] ^ shift[1][crc >> 8 & 0xff] ^ shift[2][crc >> 16 & 0xff] ^
         shift[3][crc >> 24 & 0xff];
}

std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

template <std::size_t kStretch>
__attribute__((target("sse4.2"))) std::uint64_t three_stretches(
    std::uint64_t crc, std::span<const std::uint8_t>& bytes, const std::array<Table, 4>& shift) {
  while (bytes.size() >= 3 * kStretch) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    const std::uint8_t* at = bytes.data();
    for (const std::uint8_t* end = at + kStretch; at != end; at += 8) {
      crc = _mm_crc32_u64(crc, word_at(at));
      second = _mm_crc32_u64(second, word_at(at + kStretch));
      third = _mm_crc32_u64(third, word_at(at + 2 * kStretch));
    }
    crc = shifted(shift, crc) ^ second;
    crc = shifted(shift, crc) ^ third;
    bytes = bytes.subspan(3 * kStretch);
  }
  return crc;
}

__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(
    std::span<const std::uint8_t> bytes, std::uint32_t before) {
  std::uint64_t crc = ~before;
  crc = three_stretches<kLong>(crc, bytes, kShiftLong);
  crc = three_stretches<kShort>(crc, bytes, kShiftShort);
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    crc = _mm_crc32_u64(crc, word_at(bytes.data()));
  auto last = static_cast<std::uint32_t>(crc);
  for (const std::uint8_t byte : bytes) last = _mm_crc32_u8(last, byte);
  return ~last;
}

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::uint8_t> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t word = word_at(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kSlices[7 - k][word >> 8 * k & 0xff];
  }
  for (const std::uint8_t byte : bytes) crc = crc >> 8 ^ kSlices[0][(crc ^ byte) & 0xff];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::uint8_t> bytes, std::uint32_t before) {
  return __builtin_cpu_supports("sse4.2") ? crc32c_by_instruction(bytes, before)
                                          : crc32c_by_table(bytes, before);
}

std::uint32_t masked_crc32c(std::span<const std::uint8_t> bytes) {
  return std::rotr(crc32c(bytes), 15) + kMaskDelta;
}

}  // namespace sterna::input
