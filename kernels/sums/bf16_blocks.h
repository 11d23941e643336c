// fp32 to bf16 and back, per instruction set. Internal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sterna::kernels {

void encode_bf16_values(const float* values, std::size_t count, std::byte* out);
void encode_bf16_values_avx2(const float* values, std::size_t count, std::byte* out);
void encode_bf16_values_avx512(const float* values, std::size_t count, std::byte* out);

void decode_bf16_values(const std::byte* payload, std::size_t count, float* out);
void decode_bf16_values_avx2(const std::byte* payload, std::size_t count, float* out);
void decode_bf16_values_avx512(const std::byte* payload, std::size_t count, float* out);

void add_bf16_values(const std::uint16_t* a, const std::uint16_t* b, std::size_t count,
                     std::uint16_t* out);
void add_bf16_values_avx2(const std::uint16_t* a, const std::uint16_t* b, std::size_t count,
                          std::uint16_t* out);
void add_bf16_values_avx512(const std::uint16_t* a, const std::uint16_t* b, std::size_t count,
                            std::uint16_t* out);

}  // namespace sterna::kernels
