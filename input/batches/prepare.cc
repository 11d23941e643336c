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

/// An example of the source, `first` + `index` of the whole set.
struct Place {
  const Source& source;
  std::uint64_t index = 0;
  std::uint64_t first = 0;
};

/// Reads an example and prepares it. Its label. Errors say where it lies.
template <class Prepare>
Result<std::uint16_t> prepare_whole(const Place& at, const Prepare& prepare) {
  Result<StoredExample> stored = at.source.read(at.index);
  if (!stored) return std::move(stored).error();  // which says so itself
  Result<void> prepared = prepare(*stored);
  if (prepared) return stored->label;
  const std::string place = at.source.place_of(at.index);
  return Error(prepared.error())
      .in(place.empty() ? fmt::format("example {}", at.first + at.index) : place);
}

/// Counts an example that is damaged. Errors: `why` itself where it is no damage, or none may be.
Result<void> leave_out(const Preparation& how, std::uint64_t example, const Error& why) {
  if (!how.bad || !is_damage(why)) return why;
  return how.bad->add(example, why);
}

/// Prepares an example, or else the next of its block that can be. Its label.
template <class Prepare>
Result<std::uint16_t> prepare_one(const Place& at, const Preparation& how, const Prepare& prepare) {
  const ExampleRange block = at.source.block_of(at.index);
  for (std::uint64_t tried = 0;; ++tried) {
    const std::uint64_t here = block.first + (at.index - block.first + tried) % block.count();
    Result<std::uint16_t> label = prepare_whole(Place{at.source, here, at.first}, prepare);
    if (label) return label;
    STERNA_TRY(leave_out(how, at.first + here, label.error()));
    if (tried + 1 == block.count()) {
      return Error{
          Errc::malformed,
          fmt::format("no example of {} to {} can be decoded; the last: {}", at.first + block.first,
                      at.first + block.end - 1, label.error().message)};
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
    STERNA_ASSIGN(into.labels[i], prepare_one(Place{source, soon[i], first}, how, prepare));
  }
  return {};
}

Result<std::size_t> prepare_evaluation(const Source& source,
                                       std::span<const std::uint64_t> examples,
                                       const Preparation& how, const PreparedRows& into) {
  check_sizes(into, examples.size(), how);
  source.announce(examples);
  std::size_t rows = 0;
  for (const std::uint64_t example : examples) {
    const auto prepare = [&](const StoredExample& stored) {
      return how.family->evaluate(stored.picture, how.options, row_of(into, rows, how));
    };
    const Result<std::uint16_t> label = prepare_whole(Place{source, example}, prepare);
    if (label) {
      into.labels[rows++] = *label;
    } else {
      STERNA_TRY(leave_out(how, example, label.error()));
    }
  }
  return rows;
}

}  // namespace sterna::input
