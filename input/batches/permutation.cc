#include "input/batches/permutation.h"

#include <bit>
#include <cassert>

#include "kernels/random/philox.h"
#include "kernels/random/stream.h"

namespace sterna::input {

namespace {
// Four rounds make a pseudorandom permutation of large blocks; the small ones here want more.
constexpr std::uint32_t kRounds = 8;
}  // namespace

Permutation::Permutation(std::uint64_t seed, std::uint64_t n, std::uint64_t epoch)
    : seed_(seed),
      n_(n),
      epoch_(epoch),
      half_bits_((static_cast<unsigned>(std::bit_width(n - 1)) + 1) / 2) {
  assert(n > 0);
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  assert(i < n_);
  // Cycle walking: the network permutes up to 4n blocks; walk its cycle until it is back below n.
  do {
    i = encrypt(i);
  } while (i >= n_);
  return i;
}

std::uint64_t Permutation::encrypt(std::uint64_t block) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  auto left = static_cast<std::uint32_t>(block >> half_bits_);
  auto right = static_cast<std::uint32_t>(block & mask);
  const auto epoch_low = static_cast<std::uint32_t>(epoch_);
  const auto epoch_high = static_cast<std::uint32_t>(epoch_ >> 32);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::uint32_t word =
        kernels::philox({right, epoch_high << 8 | round, epoch_low,
                         static_cast<std::uint32_t>(kernels::Stream::shuffle)},
                        seed_)[0];
    const std::uint32_t next = left ^ (word & static_cast<std::uint32_t>(mask));
    left = right;
    right = next;
  }
  return std::uint64_t{left} << half_bits_ | right;
}

}  // namespace sterna::input
