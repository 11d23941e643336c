#include "kernels/numbers/signs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace sterna::kernels {
namespace {

float mean_magnitude(std::span<const float> values) {
  constexpr std::size_t kLanes = 16;
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += std::fabs(values[i + lane]);
  }
  for (std::size_t lane = 0; i < values.size(); ++i, ++lane) lanes[lane] += std::fabs(values[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

void encode_part(std::span<const float> values, std::span<std::byte> out) {
  const float mean = mean_magnitude(values);
  std::memcpy(out.data(), &mean, sizeof(mean));
  std::byte* const bits = out.data() + sizeof(mean);
  for (std::size_t first = 0; first < values.size(); first += 8) {
    const std::size_t count = std::min<std::size_t>(8, values.size() - first);
    std::uint32_t byte = 0;
    for (std::size_t i = 0; i < count; ++i) {
      byte |= static_cast<std::uint32_t>(values[first + i] < 0) << i;
    }
    bits[first / 8] = static_cast<std::byte>(byte);
  }
}

Result<void> decode_part(std::span<const std::byte> payload, std::span<float> out) {
  float mean = 0;
  std::memcpy(&mean, payload.data(), sizeof(mean));
  if (!std::isfinite(mean)) return Error{Errc::non_finite, "signs of a magnitude without end"};
  if (mean < 0) return Error{Errc::malformed, "signs of a negative magnitude"};
  const std::span<const std::byte> bits = payload.subspan(sizeof(mean));
  if (out.size() % 8 != 0 && std::to_integer<std::uint32_t>(bits.back()) >> (out.size() % 8) != 0) {
    return Error{Errc::malformed, "signs behind the last element"};
  }
  // Into the float's sign: a branch that is taken every other time costs ten times as much.
  const auto plus = std::bit_cast<std::uint32_t>(mean);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t negative = std::to_integer<std::uint32_t>(bits[i / 8]) >> (i % 8) & 1U;
    out[i] = std::bit_cast<float>(plus ^ negative << 31);
  }
  return {};
}

}  // namespace

void encode_signs(std::span<const float> values, std::span<std::byte> out) {
  assert(out.size() == signs_bytes(values.size()));
  for (std::size_t first = 0; first < values.size(); first += kSignsPerMean) {
    const auto part = values.subspan(first, std::min(kSignsPerMean, values.size() - first));
    encode_part(part, out.subspan(signs_bytes(first), signs_bytes(part.size())));
  }
}

Result<void> decode_signs(std::span<const std::byte> payload, std::span<float> out) {
  if (payload.size() != signs_bytes(out.size())) {
    return Error{Errc::malformed, fmt::format("{} signs in {} bytes; expected {}", out.size(),
                                              payload.size(), signs_bytes(out.size()))};
  }
  for (std::size_t first = 0; first < out.size(); first += kSignsPerMean) {
    const auto part = out.subspan(first, std::min(kSignsPerMean, out.size() - first));
    STERNA_TRY(decode_part(payload.subspan(signs_bytes(first), signs_bytes(part.size())), part));
  }
  return {};
}

}  // namespace sterna::kernels
