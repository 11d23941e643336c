#include "input/augment/draws.h"

#include <cassert>

#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::input {

Draws::Draws(std::uint64_t seed, std::uint64_t epoch, std::uint64_t example)
    : seed_(seed), epoch_(epoch), example_(example) {}

std::uint32_t Draws::word() {
  if (used_ == words_.size()) {
    assert(block_ < 256);
    const std::uint64_t upper = ((example_ >> 32 & 0xFFFF) << 16) | ((epoch_ >> 32 & 0xFF) << 8);
    words_ =
        kernels::philox({static_cast<std::uint32_t>(example_), static_cast<std::uint32_t>(epoch_),
                         static_cast<std::uint32_t>(upper) + block_++,
                         static_cast<std::uint32_t>(kernels::Stream::augment)},
                        seed_);
    used_ = 0;
  }
  return words_[used_++];
}

float Draws::uniform() { return static_cast<float>(word() >> 8) * 0x1p-24F; }

float Draws::uniform(float low, float high) { return low + (high - low) * uniform(); }

std::uint32_t Draws::below(std::uint32_t n) {
  assert(n > 0);
  return scaled(word(), n);
}

bool Draws::coin() { return (word() >> 31) != 0; }

}  // namespace sterna::input
