#include "input/batches/batch.h"

#include <cassert>

#include "input/batches/permutation.h"

namespace sterna::input {

std::vector<std::uint64_t> batch_indices(const BatchQuestion& question,
                                         std::uint64_t dataset_size) {
  assert(dataset_size > 0 && question.rank < question.ranks);
  const std::uint64_t first = (question.step * question.ranks + question.rank) * question.batch;
  std::uint64_t epoch = first / dataset_size;
  std::uint64_t place = first % dataset_size;
  Permutation order(question.seed, dataset_size, epoch);
  std::vector<std::uint64_t> indices;
  indices.reserve(question.batch);
  for (std::uint32_t i = 0; i < question.batch; ++i) {
    if (place == dataset_size) {
      place = 0;
      order = Permutation(question.seed, dataset_size, ++epoch);
    }
    indices.push_back(order(place++));
  }
  return indices;
}

}  // namespace sterna::input
