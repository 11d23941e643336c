#include "actors/reader/batch_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <vector>

namespace sterna::actors {
namespace {

constexpr std::size_t kLabelSize = sizeof(std::uint16_t);

/// Of a SHA-256 in hexadecimal.
std::uint64_t first_8_bytes(const std::string& sha256) {
  std::uint64_t value = 0;
  std::from_chars(sha256.data(), sha256.data() + std::min<std::size_t>(16, sha256.size()), value,
                  16);
  return value;
}

/// Which reader each row of a batch has to come from, and which have come.
class Rows {
 public:
  Rows(const input::BatchQuestion& question, std::uint64_t examples, std::uint32_t shards)
      : question_(question),
        indices_(input::batch_indices(question, examples)),
        came_(indices_.size()) {
    for (const std::uint64_t index : indices_) {
      owners_.push_back(input::shard_of(index, shards, examples));
    }
  }

  /// Counts the rows of one reader's answer; what is wrong with them, or nothing.
  std::string take(const Batch& part, std::uint32_t shard, std::span<const std::string> readers) {
    for (const std::uint32_t row : part.rows) {
      if (row < question_.first_row || row >= question_.end_row()) {
        return fmt::format("it answers row {} where rows {} to {} were asked for", row,
                           question_.first_row, question_.end_row() - 1);
      }
      const std::size_t i = row - question_.first_row;
      if (owners_[i] != shard) {
        return fmt::format("it answers row {}, example {}, which lies in the shard of {}", row,
                           indices_[i], readers[owners_[i]]);
      }
      if (came_[i]) return fmt::format("it answers row {} twice", row);
      came_[i] = true;
    }
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      if (owners_[i] != shard || came_[i]) continue;
      return fmt::format("it leaves out row {}, example {} of its shard", question_.first_row + i,
                         indices_[i]);
    }
    return "";
  }

 private:
  input::BatchQuestion question_;
  std::vector<std::uint64_t> indices_;
  std::vector<std::uint32_t> owners_;
  std::vector<bool> came_;
};

/// The columns of a batch, which all have the same rows.
constexpr std::array kColumns{&Batch::pixels, &Batch::levels, &Batch::labels};
using Column = Bytes Batch::*;
using RowSizes = std::array<std::size_t, kColumns.size()>;

/// Bytes of one row by column; 0: there is none in this answer.
RowSizes row_sizes(const Batch& part) {
  RowSizes sizes{};
  if (part.rows.empty()) return sizes;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    sizes[i] = (part.*kColumns[i]).size() / part.rows.size();
  }
  return sizes;
}

/// What is wrong with an answer by itself, and beside the first one; or nothing.
std::string mistake_in(const Batch& part, const Batch& first, const std::string& first_reader) {
  if (part.of.examples == 0 || part.of.examples > input::kMostExamples) {
    return "it does not say which training set its shard is of";
  }
  if (part.of != first.of) {
    return fmt::format(
        "its shard is of another training set ({} examples, {:016x}) than {}'s ({}, "
        "{:016x}); give both the same files and labels.txt, or split one set anew for all",
        part.of.examples, part.of.dataset, first_reader, first.of.examples, first.of.dataset);
  }
  const RowSizes sizes = row_sizes(part);
  bool fits = part.labels.size() == part.rows.size() * kLabelSize;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    fits = fits && (part.*kColumns[i]).size() == sizes[i] * part.rows.size();
  }
  if (!fits) {
    return fmt::format("it answers {} rows with {} labels and {} bytes of pixels", part.rows.size(),
                       part.labels.size() / kLabelSize, part.pixels.size());
  }
  return "";
}

/// Rows that there is room for where there are `rows`: of few sizes, so that a pool has what the
/// next answer wants, however many of its rows lie in a shard; at most an eighth more.
std::size_t with_room(std::size_t rows) {
  const std::size_t step = std::max<std::size_t>(1, std::bit_floor(rows) / 8);
  return (rows + step - 1) / step * step;
}

Bytes first_of(const std::shared_ptr<Buffer>& buffer, std::size_t size) {
  aligned(buffer->bytes(), size);
  return share(buffer, size);
}

}  // namespace

input::BatchQuestion question_of(const JobConfig& job, const NextBatch& question) {
  return {.seed = job.seed,
          .step = question.step,
          .rank = question.rank,
          .ranks = job.ranks,
          .batch = job.batch,
          .first_row = question.first_row,
          .rows = question.rows,
          .first_step = job.step_at_first_position(),
          .first_position = job.first_position};
}

OwnRows own_rows(const input::BatchQuestion& question, const input::TrainingPart& part) {
  OwnRows own{.rows = input::batch_rows(question, part.examples)};
  if (part.sha256.empty()) return own;
  std::vector<input::BatchRow> all = std::move(own.rows);
  own.rows.clear();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!part.range.contains(all[i].example)) continue;
    own.numbers.push_back(question.first_row + i);
    own.rows.push_back(all[i]);
  }
  return own;
}

std::uint64_t pool_bytes(std::size_t rows, const input::Preparation& how) {
  const std::size_t row = how.row_pixels() + how.row_levels() * sizeof(float) + kLabelSize;
  return with_room(rows) * row;
}

Result<Batch> rows_of(const input::BatchQuestion& question, OwnRows own,
                      const input::TrainingPart& part, const input::Preparation& how,
                      BufferPool& pool) {
  Batch batch{.step = question.step,
              .rank = question.rank,
              .pixels = {},
              .levels = {},
              .labels = {},
              .rows = std::move(own.numbers)};
  if (!part.sha256.empty()) batch.of = {part.examples, first_8_bytes(part.sha256)};
  const std::size_t rows = own.rows.size();
  const std::size_t room = with_room(rows);
  const auto pixels = pool.take(room * how.row_pixels());
  const auto levels = pool.take(room * how.row_levels() * sizeof(float));
  const auto labels = pool.take(room * kLabelSize);
  STERNA_TRY(input::prepare_training(*part.source, part.first, own.rows, how,
                                     {pixels->as<std::uint8_t>().first(rows * how.row_pixels()),
                                      levels->as<float>().first(rows * how.row_levels()),
                                      labels->as<std::uint16_t>().first(rows)}));
  batch.pixels = first_of(pixels, rows * how.row_pixels());
  batch.levels = first_of(levels, rows * how.row_levels() * sizeof(float));
  batch.labels = first_of(labels, rows * kLabelSize);
  return batch;
}

Result<Batch> put_together(const input::BatchQuestion& question, std::span<const Batch> parts,
                           std::span<const std::string> readers, BufferPool& pool) {
  const auto malformed = [&](std::size_t shard, const std::string& what) {
    return Error{Errc::malformed, fmt::format("{}: {}", readers[shard], what)};
  };
  RowSizes sizes{};  // as `sized` says
  std::size_t sized = 0;
  for (std::size_t shard = 0; shard < parts.size(); ++shard) {
    const std::string mistake = mistake_in(parts[shard], parts.front(), readers.front());
    if (!mistake.empty()) return malformed(shard, mistake);
    const RowSizes here = row_sizes(parts[shard]);
    if (here == RowSizes{}) continue;
    if (sizes != RowSizes{} && here != sizes) {
      return malformed(shard, fmt::format("its pictures have {} bytes, those of {} {}", here[0],
                                          readers[sized], sizes[0]));
    }
    sizes = here;
    sized = shard;
  }
  Rows rows(question, parts.front().of.examples, static_cast<std::uint32_t>(parts.size()));
  for (std::size_t shard = 0; shard < parts.size(); ++shard) {
    const std::string mistake = rows.take(parts[shard], static_cast<std::uint32_t>(shard), readers);
    if (!mistake.empty()) return malformed(shard, mistake);
  }
  const std::size_t count = question.end_row() - question.first_row;
  Batch whole{
      .step = question.step, .rank = question.rank, .pixels = {}, .levels = {}, .labels = {}};
  for (std::size_t column = 0; column < kColumns.size(); ++column) {
    const std::size_t size = sizes[column];
    if (size == 0) continue;  // no net takes such
    const auto bytes = pool.take(count * size);
    for (const Batch& part : parts) {
      for (std::size_t i = 0; i < part.rows.size(); ++i) {
        std::memcpy(bytes->data() + (part.rows[i] - question.first_row) * size,
                    (part.*kColumns[column]).data() + i * size, size);
      }
    }
    whole.*kColumns[column] = share(bytes);
  }
  return whole;
}

Batch joined(std::vector<Batch> pieces, BufferPool& pool) {
  if (pieces.size() == 1) return std::move(pieces.front());
  const auto join = [&](Column part) {
    std::size_t size = 0;
    for (const Batch& piece : pieces) size += (piece.*part).size();
    const auto whole = pool.take(size);
    std::byte* end = whole->data();
    for (const Batch& piece : pieces) {
      const Bytes& bytes = piece.*part;
      if (bytes.size() > 0) std::memcpy(end, bytes.data(), bytes.size());
      end += bytes.size();
    }
    return share(whole);
  };
  return {.step = pieces.front().step,
          .rank = pieces.front().rank,
          .pixels = join(&Batch::pixels),
          .levels = join(&Batch::levels),
          .labels = join(&Batch::labels)};
}

}  // namespace sterna::actors
