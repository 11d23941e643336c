// A shuffle without a table: a keyed permutation of 0 .. n-1 that answers for one index in O(1).
//
// An eight-round balanced Feistel network over Philox (Luby and Rackoff 1988; Black and Rogaway
// 2002 for cycle walking). BATCHES.md defines it to the bit, with test vectors.
#pragma once

#include <cstdint>

namespace sterna::input {

/// The order of epoch `epoch` over `n` examples under the run's `seed`. A value; copies freely.
class Permutation {
 public:
  /// n > 0.
  Permutation(std::uint64_t seed, std::uint64_t n, std::uint64_t epoch);

  /// The image of `i` < n, again below n. Each value below n is the image of exactly one.
  std::uint64_t operator()(std::uint64_t i) const;

 private:
  std::uint64_t encrypt(std::uint64_t block) const;

  std::uint64_t seed_;
  std::uint64_t n_;
  std::uint64_t epoch_;
  unsigned half_bits_;  ///< the network permutes 2 * half_bits_ bits, the fewest that hold n - 1
};

}  // namespace sterna::input
