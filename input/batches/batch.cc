#include "input/batches/batch.h"

#include <cassert>

#include "input/batches/permutation.h"

namespace sterna::input {

std::vector<BatchRow> batch_rows(const BatchQuestion& question, std::uint64_t dataset_size) {
  assert(dataset_size > 0 && question.rank < question.ranks);
  assert(question.first_step <= question.step);
  assert(question.first_row <= question.end_row() && question.end_row() <= question.batch);
  const std::uint64_t first =
      question.first_position +
      ((question.step - question.first_step) * question.ranks + question.rank) * question.batch +
      question.first_row;
  std::uint64_t epoch = first / dataset_size;
  std::uint64_t place = first % dataset_size;
  Permutation order(question.seed, dataset_size, epoch);
  std::vector<BatchRow> rows;
  rows.reserve(question.end_row() - question.first_row);
  for (std::uint32_t row = question.first_row; row < question.end_row(); ++row) {
    if (place == dataset_size) {
      place = 0;
      order = Permutation(question.seed, dataset_size, ++epoch);
    }
    rows.push_back({epoch, order(place++)});
  }
  return rows;
}

std::vector<std::uint64_t> batch_indices(const BatchQuestion& question,
                                         std::uint64_t dataset_size) {
  std::vector<std::uint64_t> indices;
  indices.reserve(question.end_row() - question.first_row);
  for (const BatchRow& row : batch_rows(question, dataset_size)) indices.push_back(row.example);
  return indices;
}

}  // namespace sterna::input
