// Which examples a batch holds: a function of (seed, step, rank) alone, whoever asks and whenever.
#pragma once

#include <cstdint>
#include <vector>

namespace sterna::input {

/// The batch of `rank` (of `ranks`) at `step`, of `batch` examples; or some neighbouring rows of
/// it.
struct BatchQuestion {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::uint32_t batch = 1;
  std::uint32_t first_row = 0;       ///< at most `batch`
  std::uint32_t rows = 0;            ///< 0: all that follow
  std::uint64_t first_step = 0;      ///< at most `step`: the one that ...
  std::uint64_t first_position = 0;  ///< ... begins at this position

  /// One past the last of the rows.
  std::uint32_t end_row() const { return rows == 0 ? batch : first_row + rows; }
};

/// One row of a batch: which example, and in which epoch.
struct BatchRow {
  std::uint64_t epoch = 0;
  std::uint64_t example = 0;
  bool operator==(const BatchRow&) const = default;
};

/// The rows of a data set of `dataset_size` (> 0) examples: row i stands at position
/// p = first_position + ((step - first_step) * ranks + rank) * batch + i, belongs to epoch p div N,
/// and is the example that the epoch's permutation puts at p mod N. So batches are always full,
/// those of one step are disjoint within an epoch, and one may straddle an epoch's border.
std::vector<BatchRow> batch_rows(const BatchQuestion& question, std::uint64_t dataset_size);

/// Only the examples.
std::vector<std::uint64_t> batch_indices(const BatchQuestion& question, std::uint64_t dataset_size);

}  // namespace sterna::input
