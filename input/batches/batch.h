// Which examples a batch holds: a function of (seed, step, rank) alone, whoever asks and whenever.
#pragma once

#include <cstdint>
#include <vector>

namespace sterna::input {

/// The batch of `rank` (of `ranks`) at `step`, of `batch` examples.
struct BatchQuestion {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::uint32_t batch = 1;
};

/// The `batch` indices, each below `dataset_size` (> 0): example i stands at position
/// p = (step * ranks + rank) * batch + i, belongs to epoch p div N, and is the one that the epoch's
/// permutation puts at p mod N. So batches are always full, those of one step are disjoint within
/// an epoch, and one may straddle an epoch's border.
std::vector<std::uint64_t> batch_indices(const BatchQuestion& question, std::uint64_t dataset_size);

}  // namespace sterna::input
