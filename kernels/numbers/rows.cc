#include "kernels/numbers/rows.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "kernels/numbers/rows_blocks.h"
#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {

RowEnds row_ends(const float* row, std::size_t count) {
  RowEnds ends{.least = row[0], .largest = row[0]};
  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) {
    finite = finite && std::isfinite(row[i]);
    ends.least = std::min(ends.least, row[i]);
    ends.largest = std::max(ends.largest, row[i]);
  }
  if (!finite) ends.least = ends.largest = std::numeric_limits<float>::quiet_NaN();
  return {.least = ends.least + 0.0F, .largest = ends.largest + 0.0F};
}

void row_levels(const RowLevels& how, const float* row, std::size_t count, std::uint64_t first,
                std::uint8_t* levels) {
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t index = first + i;
    if (i == 0 || index % 4 == 0) {
      words =
          philox({static_cast<std::uint32_t>(index / 4), how.draw.step,
                  how.draw.rank << 16U | how.draw.tensor, static_cast<std::uint32_t>(Stream::rows)},
                 how.draw.seed);
    }
    const double place = (double{row[i]} - how.least) * how.places + words[index % 4] * 0x1p-32;
    levels[i] = static_cast<std::uint8_t>(std::min(how.most, static_cast<std::uint32_t>(place)));
  }
}

namespace {

/// A row as it lies in memory.
struct Header {
  std::uint8_t bits = 0;
  std::uint8_t tail = 0;
  float least = 0;
  float largest = 0;
};

std::uint8_t tail_of(std::size_t elements, std::uint32_t bits) {
  return static_cast<std::uint8_t>(level_bytes(elements, bits) * (8 / bits) - elements);
}

void write(const Header& header, std::byte* out) {
  out[0] = std::byte{header.bits};
  out[1] = std::byte{header.tail};
  std::memcpy(out + 2, &header.least, sizeof(float));
  std::memcpy(out + 6, &header.largest, sizeof(float));
}

Header read(const std::byte* from) {
  Header header{.bits = std::to_integer<std::uint8_t>(from[0]),
                .tail = std::to_integer<std::uint8_t>(from[1])};
  std::memcpy(&header.least, from + 2, sizeof(float));
  std::memcpy(&header.largest, from + 6, sizeof(float));
  return header;
}

/// From one level to the next. In fp64, where no difference of two fp32 overflows.
double step_of(const Header& header) {
  return (double{header.largest} - double{header.least}) / ((1U << header.bits) - 1);
}

void encode_row(std::span<const float> row, const Header& header, const TernaryDraw& draw,
                std::uint64_t first, Isa isa, std::byte* out) {
  const std::size_t bytes = level_bytes(row.size(), header.bits);
  std::fill_n(out, bytes, std::byte{0});
  const double step = step_of(header);
  if (!(step > 0)) return;  // of one number, or not finite
  const RowLevels how{
      .least = header.least, .places = 1 / step, .most = (1U << header.bits) - 1, .draw = draw};
  std::array<std::uint8_t, kRowElements> levels;
  twin(isa, row_levels, row_levels_avx2, row_levels_avx2)(how, row.data(), row.size(), first,
                                                          levels.data());
  const std::uint8_t* level = levels.data();
  for (std::size_t left = row.size(), shift = 0; left > 0; shift += header.bits) {
    const std::size_t count = std::min(bytes, left);
    for (std::size_t i = 0; i < count; ++i) out[i] |= static_cast<std::byte>(level[i] << shift);
    level += count;
    left -= count;
  }
}

Result<void> check(const Header& header, std::size_t elements, std::uint32_t bits) {
  if (header.bits != bits || header.tail != tail_of(elements, bits)) {
    return Error{Errc::malformed, "a row of other bits or elements than the first"};
  }
  if (!std::isfinite(header.least) || !std::isfinite(header.largest)) {
    return Error{Errc::non_finite, "a row between numbers that are not finite"};
  }
  if (header.least > header.largest) {
    return Error{Errc::malformed, "a row whose least element is above its largest"};
  }
  return {};
}

/// Elements that are missing in the last bytes are zeros.
bool has_zeros_behind(const std::byte* levels, std::size_t elements, std::uint32_t bits) {
  const std::size_t bytes = level_bytes(elements, bits);
  for (std::size_t i = elements; i < bytes * (8 / bits); ++i) {
    const auto byte = std::to_integer<std::uint32_t>(levels[i % bytes]);
    if ((byte >> (i / bytes * bits) & ((1U << bits) - 1)) != 0) return false;
  }
  return true;
}

void decode_row(const Header& header, const std::byte* levels, std::span<float> row) {
  const std::size_t bytes = level_bytes(row.size(), header.bits);
  const double step = step_of(header);
  const std::uint32_t mask = (1U << header.bits) - 1;
  for (std::size_t first = 0, shift = 0; first < row.size(); first += bytes, shift += header.bits) {
    const std::size_t count = std::min(bytes, row.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t level = std::to_integer<std::uint32_t>(levels[i]) >> shift & mask;
      row[first + i] = static_cast<float>(double{header.least} + level * step);
    }
  }
}

}  // namespace

void encode_rows(std::span<const float> values, std::uint32_t bits, const TernaryDraw& draw,
                 std::uint64_t first_index, std::span<std::byte> out, Isa isa) {
  assert(out.size() == rows_bytes(values.size(), bits));
  std::byte* at = out.data();
  for (std::size_t first = 0; first < values.size(); first += kRowElements) {
    const auto row = values.subspan(first, std::min(kRowElements, values.size() - first));
    const RowEnds ends = twin(isa, row_ends, row_ends_avx2, row_ends_avx2)(row.data(), row.size());
    const Header header{.bits = static_cast<std::uint8_t>(bits),
                        .tail = tail_of(row.size(), bits),
                        .least = ends.least,
                        .largest = ends.largest};
    write(header, at);
    encode_row(row, header, draw, first_index + first, isa, at + kRowHeaderBytes);
    at += kRowHeaderBytes + level_bytes(row.size(), bits);
  }
}

Result<void> decode_rows(std::span<const std::byte> payload, std::span<float> out) {
  if (out.empty() && payload.empty()) return {};
  const auto bits = payload.empty() ? 0 : std::to_integer<std::uint32_t>(payload[0]);
  if (bits != 1 && bits != 2 && bits != 4 && bits != 8) {
    return Error{Errc::malformed, fmt::format("rows of {} bits an element", bits)};
  }
  if (payload.size() != rows_bytes(out.size(), bits)) {
    return Error{Errc::malformed,
                 fmt::format("{} elements of {} bits in {} bytes; expected {}", out.size(), bits,
                             payload.size(), rows_bytes(out.size(), bits))};
  }
  const std::byte* at = payload.data();
  for (std::size_t first = 0; first < out.size(); first += kRowElements) {
    const auto row = out.subspan(first, std::min(kRowElements, out.size() - first));
    const Header header = read(at);
    STERNA_TRY(check(header, row.size(), bits));
    at += kRowHeaderBytes;
    if (!has_zeros_behind(at, row.size(), bits)) {
      return Error{Errc::malformed, "a row with levels behind its last element"};
    }
    decode_row(header, at, row);
    at += level_bytes(row.size(), bits);
  }
  return {};
}

}  // namespace sterna::kernels
