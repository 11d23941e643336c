#include "input/batches/prepare.h"

#include <fmt/format.h>

#include <cassert>

namespace sterna::input {

namespace {

/// Row `i` of `into`.
Prepared row_of(const PreparedRows& into, std::size_t i, const Preparation& how) {
  const std::size_t channels = how.options.shape.channels;
  const std::span<float> levels = into.levels.subspan(i * 2 * channels, 2 * channels);
  return {into.pixels.subspan(i * how.row_pixels(), how.row_pixels()), levels.first(channels),
          levels.subspan(channels)};
}

void check_sizes([[maybe_unused]] const PreparedRows& into, [[maybe_unused]] std::size_t rows,
                 [[maybe_unused]] const Preparation& how) {
  assert(into.labels.size() == rows && into.pixels.size() == rows * how.row_pixels() &&
         into.levels.size() == rows * how.row_levels());
}

/// Whether another example may stand for one that ends so: not where all would.
bool is_damage(const Error& error) { return error.code == Errc::malformed; }

/// Reads example `index` of the source and prepares it, or else the next of its block that can be.
/// Its label.
template <class Prepare>
Result<std::uint16_t> prepare_one(const Source& source, std::uint64_t index, std::uint64_t first,
                                  const Preparation& how, const Prepare& prepare) {
  const ExampleRange block = source.block_of(index);
  for (std::uint64_t tried = 0;; ++tried) {
    const std::uint64_t here = block.first + (index - block.first + tried) % block.count();
    Result<StoredExample> stored = source.read(here);
    Result<void> prepared = stored ? prepare(*stored) : Result<void>(stored.error());
    if (prepared) return stored->label;
    Error why = prepared.error();
    if (stored) {  // else it says so itself
      const std::string place = source.place_of(here);
      why = std::move(why).in(place.empty() ? fmt::format("example {}", first + here) : place);
    }
    if (!how.bad || !is_damage(why)) return why;
    STERNA_TRY(how.bad->add(first + here, why));
    if (tried + 1 == block.count()) {
      return Error{Errc::malformed,
                   fmt::format("no example of {} to {} can be decoded; the last: {}",
                               first + block.first, first + block.end - 1, why.message)};
    }
  }
}

}  // namespace

PreparedRows PreparedBatch::rows(std::size_t count) {
  assert(count <= labels.size() && !labels.empty());
  return {std::span(pixels).first(pixels.size() / labels.size() * count),
          std::span(levels).first(levels.size() / labels.size() * count),
          std::span(labels).first(count)};
}

Result<void> prepare_training(const Source& source, std::uint64_t first,
                              std::span<const BatchRow> rows, const Preparation& how,
                              const PreparedRows& into) {
  check_sizes(into, rows.size(), how);
  std::vector<std::uint64_t> soon;
  soon.reserve(rows.size());
  for (const BatchRow& row : rows) soon.push_back(row.example - first);
  source.announce(soon);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto prepare = [&](const StoredExample& stored) {
      Draws draws(how.seed, rows[i].epoch, rows[i].example);
      return how.family->train(stored.picture, stored.boxes, draws, how.options,
                               row_of(into, i, how));
    };
    STERNA_ASSIGN(into.labels[i], prepare_one(source, soon[i], first, how, prepare));
  }
  return {};
}

Result<void> prepare_evaluation(const Source& source, std::span<const std::uint64_t> examples,
                                const Preparation& how, const PreparedRows& into) {
  check_sizes(into, examples.size(), how);
  source.announce(examples);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto prepare = [&](const StoredExample& stored) {
      return how.family->evaluate(stored.picture, how.options, row_of(into, i, how));
    };
    STERNA_ASSIGN(into.labels[i], prepare_one(source, examples[i], 0, how, prepare));
  }
  return {};
}

}  // namespace sterna::input
