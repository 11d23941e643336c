// From examples as they are stored to the rows of a batch as a net sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "input/augment/family.h"
#include "input/batches/bad_examples.h"
#include "input/batches/batch.h"
#include "input/formats/source.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// How all pictures of a job are prepared.
struct Preparation {
  const Family* family = nullptr;
  FamilyOptions options;
  std::uint64_t seed = 0;  ///< of the training pictures' augmentation
  /// Counts damaged examples; null: the first one is an error.
  std::shared_ptr<BadExamples> bad = nullptr;

  std::size_t row_pixels() const { return options.shape.bytes(); }
  /// Numbers of a row's levels: a center for each channel, then a scale for each.
  std::size_t row_levels() const { return std::size_t{2} * options.shape.channels; }
};

/// Where `labels.size()` rows go, each after the other: row_pixels() bytes, row_levels() numbers
/// and a label. Views.
struct PreparedRows {
  std::span<std::uint8_t> pixels;
  std::span<float> levels;
  std::span<std::uint16_t> labels;
};

/// The same with their memory.
struct PreparedBatch {
  PreparedBatch(const Preparation& how, std::size_t rows)
      : pixels(rows * how.row_pixels()), levels(rows * how.row_levels()), labels(rows) {}
  /// The first `count` of them.
  PreparedRows rows(std::size_t count);
  PreparedRows rows() { return {pixels, levels, labels}; }

  std::vector<std::uint8_t> pixels;
  std::vector<float> levels;
  std::vector<std::uint16_t> labels;
};

/// Rows of a training batch. `source` has the examples from `first` on of the whole set that `rows`
/// count in. Each row is a function of the job's seed and of its epoch and example alone. For a
/// damaged example stands the next of its block (Source::block_of) that is not, whoever reads it.
/// Errors: those of reading; a damaged example where too many are, or all of a block.
Result<void> prepare_training(const Source& source, std::uint64_t first,
                              std::span<const BatchRow> rows, const Preparation& how,
                              const PreparedRows& into);

/// Test examples, without chance, in as many rows as are given back: what is damaged is left out,
/// and the next of `examples` has its row. Errors: those of reading; a damaged example where too
/// many are.
Result<std::size_t> prepare_evaluation(const Source& source,
                                       std::span<const std::uint64_t> examples,
                                       const Preparation& how, const PreparedRows& into);

}  // namespace sterna::input
