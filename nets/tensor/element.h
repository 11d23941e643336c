// What the numbers of a tensor are stored as. Apart from Tensor for those who only name it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sterna::nets {

/// `bf16`: the upper half of an fp32, see kernels/sums/bf16.h.
enum class Element : std::uint8_t { fp32, bf16 };

constexpr std::size_t bytes_of(Element element) { return element == Element::bf16 ? 2 : 4; }

}  // namespace sterna::nets
