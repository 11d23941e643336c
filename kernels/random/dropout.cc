#include "kernels/random/dropout.h"

#include <algorithm>
#include <bit>

#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::kernels {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint32_t kShares = 16;  // elements of a block that one draw serves

/// The words of one block's elements.
void block_words(const DropoutDraw& draw, std::uint64_t block, std::uint32_t* words) {
  for (std::uint32_t i = 0; i < kDrawsPerBlock; ++i) {
    const auto four =
        philox({static_cast<std::uint32_t>(block * kDrawsPerBlock + i), draw.step,
                draw.rank << 16 | draw.layer, static_cast<std::uint32_t>(Stream::dropout)},
               draw.seed);
    for (std::uint32_t j = 0; j < kShares; ++j) {
      words[j * kDrawsPerBlock + i] = std::rotl(four[j / 4], static_cast<int>(8 * (j % 4)));
    }
  }
}

}  // namespace

void dropout(std::span<const float> x, float keep, const DropoutDraw& draw, std::span<float> out) {
  const std::uint32_t limit = dropout_limit(keep);
  const float factor = 1 / keep;
  std::uint32_t words[kBlock];
  for (std::size_t i = 0; i < x.size();) {
    const std::uint64_t element = draw.first + i;
    block_words(draw, element / kBlock, words);
    const std::uint64_t offset = element % kBlock;
    const std::size_t count = std::min<std::size_t>(kBlock - offset, x.size() - i);
    for (std::size_t k = 0; k < count; ++k) {
      out[i + k] = words[offset + k] < limit ? x[i + k] * factor : 0.0F;
    }
    i += count;
  }
}

}  // namespace sterna::kernels
