#include "kernels/sums/bf16.h"

#include <cassert>
#include <cstring>
#include <string>

#include "kernels/sums/bf16_blocks.h"

namespace sterna::kernels {
namespace {

std::uint16_t load16(const std::byte* p) {
  std::uint16_t v = 0;
  std::memcpy(&v, p, sizeof v);
  return v;
}

bool finite(std::uint16_t bits) { return (bits & 0x7F80U) != 0x7F80U; }

}  // namespace

void encode_bf16_values(const float* values, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t bits = to_bf16(values[i]);
    std::memcpy(out + i * sizeof bits, &bits, sizeof bits);
  }
}

void decode_bf16_values(const std::byte* payload, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = from_bf16(load16(payload + 2 * i));
}

void add_bf16_values(const std::uint16_t* a, const std::uint16_t* b, std::size_t count,
                     std::uint16_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = to_bf16(from_bf16(a[i]) + from_bf16(b[i]));
}

void encode_bf16(std::span<const float> values, std::span<std::byte> out, Isa isa) {
  assert(out.size() == 2 * values.size());
  twin(isa, encode_bf16_values, encode_bf16_values_avx2, encode_bf16_values_avx512)(
      values.data(), values.size(), out.data());
}

void decode_bf16(std::span<const std::byte> payload, std::span<float> out, Isa isa) {
  assert(payload.size() == 2 * out.size());
  twin(isa, decode_bf16_values, decode_bf16_values_avx2, decode_bf16_values_avx512)(
      payload.data(), out.size(), out.data());
}

void add_bf16(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b,
              std::span<std::uint16_t> out, Isa isa) {
  assert(a.size() == out.size() && b.size() == out.size());
  twin(isa, add_bf16_values, add_bf16_values_avx2, add_bf16_values_avx512)(a.data(), b.data(),
                                                                           out.size(), out.data());
}

Result<void> check_bf16(std::span<const std::byte> payload, std::size_t count) {
  if (payload.size() % 2 != 0 || payload.size() / 2 != count) {
    return Error{Errc::malformed, "bf16 of " + std::to_string(count) + " elements do not take " +
                                      std::to_string(payload.size()) + " bytes"};
  }
  bool all = true;
  for (std::size_t i = 0; i < count; ++i) all &= finite(load16(payload.data() + 2 * i));
  if (all) return {};
  std::size_t first = 0;
  while (finite(load16(payload.data() + 2 * first))) ++first;
  return Error{Errc::non_finite, "bf16 element " + std::to_string(first) + " is not finite"};
}

}  // namespace sterna::kernels
