#include "actors/reader/batch_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "input/batches/preprocess.h"

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
      : indices_(input::batch_indices(question, examples)), came_(indices_.size()) {
    for (const std::uint64_t index : indices_) {
      owners_.push_back(input::shard_of(index, shards, examples));
    }
  }

  /// Counts the rows of one reader's answer; what is wrong with them, or nothing.
  std::string take(const Batch& part, std::uint32_t shard, std::span<const std::string> readers) {
    for (const std::uint32_t row : part.rows) {
      if (row >= owners_.size()) {
        return fmt::format("it answers row {} of a batch of {}", row, owners_.size());
      }
      if (owners_[row] != shard) {
        return fmt::format("it answers row {}, example {}, which lies in the shard of {}", row,
                           indices_[row], readers[owners_[row]]);
      }
      if (came_[row]) return fmt::format("it answers row {} twice", row);
      came_[row] = true;
    }
    for (std::size_t row = 0; row < owners_.size(); ++row) {
      if (owners_[row] != shard || came_[row]) continue;
      return fmt::format("it leaves out row {}, example {} of its shard", row, indices_[row]);
    }
    return "";
  }

 private:
  std::vector<std::uint64_t> indices_;
  std::vector<std::uint32_t> owners_;
  std::vector<bool> came_;
};

/// Bytes of one image; 0: there is none in this answer.
std::size_t image_size(const Batch& part) {
  return part.rows.empty() ? 0 : part.images.size() / part.rows.size();
}

/// What is wrong with an answer by itself, and beside the first one; or nothing.
std::string mistake_in(const Batch& part, const Batch& first, const std::string& first_reader) {
  if (part.of.examples == 0 || part.of.examples > input::kMostExamples) {
    return "it does not say which training set its shard is of";
  }
  if (part.of != first.of) {
    return fmt::format(
        "its shard is of another training set ({} examples, {:016x}) than {}'s ({}, "
        "{:016x})",
        part.of.examples, part.of.dataset, first_reader, first.of.examples, first.of.dataset);
  }
  if (part.labels.size() != part.rows.size() * kLabelSize ||
      part.images.size() != image_size(part) * part.rows.size()) {
    return fmt::format("it answers {} rows with {} labels and {} bytes of images", part.rows.size(),
                       part.labels.size() / kLabelSize, part.images.size());
  }
  return "";
}

}  // namespace

Batch rows_of(const input::BatchQuestion& question, const input::TrainingPart& part,
              BufferPool& pool) {
  std::vector<std::uint64_t> indices = input::batch_indices(question, part.examples);
  Batch batch{.step = question.step, .rank = question.rank, .images = {}, .labels = {}};
  const bool sharded = !part.sha256.empty();
  if (sharded) {
    std::vector<std::uint64_t> own;
    for (std::uint32_t row = 0; row < indices.size(); ++row) {
      if (!part.range.contains(indices[row])) continue;
      batch.rows.push_back(row);
      own.push_back(indices[row] - part.range.first);
    }
    indices = std::move(own);
    batch.of = {part.examples, first_8_bytes(part.sha256)};
  }
  const auto images = pool.take(indices.size() * part.dataset.image_size() * sizeof(float));
  const auto labels = pool.take(indices.size() * kLabelSize);
  input::gather(part.dataset, indices, images->as<float>(), labels->as<std::uint16_t>());
  batch.images = share(images);
  batch.labels = share(labels);
  return batch;
}

Result<Batch> put_together(const input::BatchQuestion& question, std::span<const Batch> parts,
                           std::span<const std::string> readers, BufferPool& pool) {
  const auto malformed = [&](std::size_t shard, const std::string& what) {
    return Error{Errc::malformed, fmt::format("{}: {}", readers[shard], what)};
  };
  std::size_t size = 0;  // of one image in bytes, as `sized` says
  std::size_t sized = 0;
  for (std::size_t shard = 0; shard < parts.size(); ++shard) {
    const std::string mistake = mistake_in(parts[shard], parts.front(), readers.front());
    if (!mistake.empty()) return malformed(shard, mistake);
    const std::size_t here = image_size(parts[shard]);
    if (here == 0) continue;
    if (size != 0 && here != size) {
      return malformed(shard, fmt::format("its images have {} bytes, those of {} {}", here,
                                          readers[sized], size));
    }
    size = here;
    sized = shard;
  }
  Rows rows(question, parts.front().of.examples, static_cast<std::uint32_t>(parts.size()));
  for (std::size_t shard = 0; shard < parts.size(); ++shard) {
    const std::string mistake = rows.take(parts[shard], static_cast<std::uint32_t>(shard), readers);
    if (!mistake.empty()) return malformed(shard, mistake);
  }
  const auto images = pool.take(question.batch * size);
  const auto labels = pool.take(question.batch * kLabelSize);
  for (const Batch& part : parts) {
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      std::memcpy(images->data() + part.rows[i] * size, part.images.data() + i * size, size);
      std::memcpy(labels->data() + part.rows[i] * kLabelSize, part.labels.data() + i * kLabelSize,
                  kLabelSize);
    }
  }
  return Batch{.step = question.step,
               .rank = question.rank,
               .images = share(images),
               .labels = share(labels)};
}

}  // namespace sterna::actors
