// The random numbers of one example's augmentation: a function of (seed, epoch, example), whoever
// draws them and whenever.
#pragma once

#include <array>
#include <cstdint>

namespace sterna::input {

/// The upper 32 bits of word * n: in [0, n), each as likely as the others up to n / 2^32. n > 0.
constexpr std::uint32_t scaled(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>(std::uint64_t{word} * n >> 32);
}

/// The words of Philox under stream `augment`, one after the other; BATCHES.md defines them to the
/// bit, with test vectors. Every call takes one word, so what a word decides does not depend on
/// what was decided before. There are 1,024 words, more than any family takes.
class Draws {
 public:
  /// Of `epoch` the low 40 bits count, of `example` the low 48.
  Draws(std::uint64_t seed, std::uint64_t epoch, std::uint64_t example);

  std::uint32_t word();
  /// In [0, 1): the word's upper 24 bits.
  float uniform();
  /// low + (high - low) * uniform(), each step rounded to fp32; in [low, high].
  float uniform(float low, float high);
  /// scaled(word(), n): in [0, n). n > 0.
  std::uint32_t below(std::uint32_t n);
  /// True for half of the words: those whose highest bit is set.
  bool coin();

 private:
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::uint64_t example_;
  std::uint32_t block_ = 0;
  std::uint32_t used_ = 4;  // of the block's words
  std::array<std::uint32_t, 4> words_{};
};

}  // namespace sterna::input
