#include "kernels/numbers/largest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace sterna::kernels {
namespace {

/// Grows with the magnitude.
std::uint32_t rank_of(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU; }

/// The rank of the `kept`-th largest, and how many of that very rank belong to the `kept`.
struct Threshold {
  std::uint32_t rank = 0;
  std::size_t equals = 0;
};

/// By digits of 11, 10 and 10 bits from the top: three counts of all elements, and no copy of them.
Threshold threshold_of(std::span<const float> values, std::size_t kept) {
  Threshold found{.rank = 0, .equals = kept};
  std::uint32_t known = 0;  // the digits found so far
  struct Digit {
    unsigned shift;
    unsigned bits;
  };
  for (const Digit digit : {Digit{20, 11}, Digit{10, 10}, Digit{0, 10}}) {
    std::array<std::size_t, 2048> counts{};
    const std::uint32_t mask = (1U << digit.bits) - 1;
    for (const float value : values) {
      const std::uint32_t rank = rank_of(value);
      if ((rank & known) == found.rank) ++counts[rank >> digit.shift & mask];
    }
    std::uint32_t at = mask;
    while (counts[at] < found.equals) found.equals -= counts[at--];
    found.rank |= at << digit.shift;
    known |= mask << digit.shift;
  }
  return found;
}

/// Of one of the largest: its place and its value.
constexpr std::size_t kEach = sizeof(std::uint16_t) + sizeof(float);

template <class Value>
void put(std::byte*& at, Value value) {
  std::memcpy(at, &value, sizeof(value));
  at += sizeof(value);
}

template <class Value>
Value get(const std::byte* from) {
  Value value{};
  std::memcpy(&value, from, sizeof(value));
  return value;
}

void put_largest(std::span<const float> elements, std::size_t kept, std::byte*& at) {
  Threshold least = threshold_of(elements, kept);
  put(at, static_cast<std::uint32_t>(kept));
  const std::byte* const places = at;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint32_t rank = rank_of(elements[i]);
    if (rank < least.rank) continue;
    if (rank == least.rank) {
      if (least.equals == 0) continue;
      --least.equals;
    }
    put(at, static_cast<std::uint16_t>(i));
  }
  for (std::size_t i = 0; i < kept; ++i) {
    put(at, elements[get<std::uint16_t>(places + i * sizeof(std::uint16_t))]);
  }
}

}  // namespace

std::size_t kept_of(std::size_t elements, double part) {
  const auto kept = static_cast<std::size_t>(std::ceil(static_cast<double>(elements) * part));
  return std::min(elements, std::max<std::size_t>(1, kept));
}

std::size_t largest_bytes(std::size_t count, double part) {
  const std::size_t rest = count % kPlacesPerPart;
  const auto bytes = [&](std::size_t elements) {
    return sizeof(std::uint32_t) + kept_of(elements, part) * kEach;
  };
  return sizeof(std::uint32_t) + count / kPlacesPerPart * bytes(kPlacesPerPart) +
         (rest == 0 ? 0 : bytes(rest));
}

void encode_largest(std::span<const float> values, double part, std::span<std::byte> out) {
  assert(out.size() == largest_bytes(values.size(), part));
  std::byte* at = out.data();
  put(at, static_cast<std::uint32_t>(values.size()));
  for (std::size_t first = 0; first < values.size(); first += kPlacesPerPart) {
    const auto elements = values.subspan(first, std::min(kPlacesPerPart, values.size() - first));
    put_largest(elements, kept_of(elements.size(), part), at);
  }
}

Result<void> decode_largest(std::span<const std::byte> payload, std::span<float> out) {
  std::ranges::fill(out, 0.0F);
  const auto wrong = [](std::string what) { return Error{Errc::malformed, std::move(what)}; };
  if (payload.size() < sizeof(std::uint32_t)) return wrong("largest elements, cut off");
  if (const auto count = get<std::uint32_t>(payload.data()); count != out.size()) {
    return wrong(fmt::format("the largest of {} elements; expected {}", count, out.size()));
  }
  std::size_t at = sizeof(std::uint32_t);
  for (std::size_t first = 0; first < out.size(); first += kPlacesPerPart) {
    const auto part = out.subspan(first, std::min(kPlacesPerPart, out.size() - first));
    if (payload.size() - at < sizeof(std::uint32_t)) return wrong("largest elements, cut off");
    const auto count = get<std::uint32_t>(payload.data() + at);
    at += sizeof(std::uint32_t);
    if (count > part.size()) {
      return wrong(fmt::format("the {} largest of {} elements", count, part.size()));
    }
    if (payload.size() - at < count * kEach) return wrong("largest elements, cut off");
    const std::byte* const places = payload.data() + at;
    const std::byte* const values = places + count * sizeof(std::uint16_t);
    std::uint32_t next = 0;  // no place below it may follow
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t place = get<std::uint16_t>(places + i * sizeof(std::uint16_t));
      const auto value = get<float>(values + i * sizeof(float));
      if (place < next || place >= part.size()) {
        return wrong(fmt::format("place {} of {} elements, out of order", place, part.size()));
      }
      if (!std::isfinite(value)) return Error{Errc::non_finite, "numbers that are not finite"};
      part[place] = value;
      next = place + 1;
    }
    at += count * kEach;
  }
  if (at != payload.size()) return wrong("bytes behind the largest elements");
  return {};
}

}  // namespace sterna::kernels
