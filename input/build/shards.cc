#include "input/build/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "input/files/listing.h"
#include "input/formats/dataset.h"
#include "input/records/record_index.h"
#include "input/records/tfrecord.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// Examples between two words on how far it is.
constexpr std::uint64_t kProgressStep = 32;

struct Shard {
  std::size_t split = 0;
  std::uint32_t number = 0;
  ExampleRange positions;
};

/// All files of all splits, in the order in which they are begun.
std::vector<Shard> shards_of(std::span<const ShardedSplit> splits) {
  std::vector<Shard> all;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const ShardedSplit& split = splits[i];
    for (std::uint32_t k = 0; k < split.shards; ++k) {
      all.push_back({i, k, {split.count * k / split.shards, split.count * (k + 1) / split.shards}});
    }
  }
  return all;
}

/// Removes the temporary files of an interrupted call: "train-00003-of-00008.12345".
Result<void> remove_leftovers(const fs::path& into, const std::set<std::string>& shard_names) {
  STERNA_ASSIGN(const std::vector<std::string> names, names_in(into, fs::file_type::regular));
  for (const std::string& name : names) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || !shard_names.contains(name.substr(0, dot))) continue;
    if (name.find_first_not_of("0123456789", dot + 1) != std::string::npos) continue;
    std::error_code ignored;
    fs::remove(into / name, ignored);
  }
  return {};
}

/// The records of a file that is there and whole.
std::optional<std::uint64_t> records_in(const fs::path& path) {
  const Result<RecordFile> file = RecordFile::open(path);
  if (!file) return std::nullopt;
  const Result<RecordIndex> index = RecordIndex::scan(*file);
  if (!index) return std::nullopt;
  return index->count();
}

/// The work, shared by the threads.
class Writing {
 public:
  Writing(fs::path into, std::span<const ShardedSplit> splits, const BuildProgress& progress)
      : into_(std::move(into)),
        splits_(splits),
        shards_(shards_of(splits)),
        progress_(progress),
        written_(splits.size()),
        failed_shard_(shards_.size()) {
    for (const ShardedSplit& split : splits) total_ += split.count;
  }

  std::size_t shards() const { return shards_.size(); }

  Result<void> clean() const {
    std::set<std::string> names;
    for (const Shard& shard : shards_) names.insert(name_of(shard));
    return remove_leftovers(into_, names);
  }

  /// What each thread does: the next file, until none is left or one failed.
  void work() {
    while (true) {
      const std::size_t next = next_++;
      if (next >= shards_.size() || failed_) return;
      const Result<void> done = make(shards_[next]);
      if (!done) fail(next, done.error());
    }
  }

  /// After all threads have ended.
  Result<std::vector<ShardsWritten>> result() && {
    if (failed_) return std::move(error_);
    return std::move(written_);
  }

 private:
  std::string name_of(const Shard& shard) const {
    return shard_name(splits_[shard.split], shard.number);
  }

  Result<void> make(const Shard& shard) {
    const fs::path path = into_ / name_of(shard);
    if (const auto there = records_in(path)) {
      count(shard, *there, 1);
      advance(shard.positions.count());
      return {};
    }
    STERNA_ASSIGN(TfRecordWriter writer, TfRecordWriter::create(path));
    std::uint64_t records = 0;
    std::uint64_t untold = 0;
    for (std::uint64_t i = shard.positions.first; i < shard.positions.end && !failed_; ++i) {
      STERNA_ASSIGN(const auto data, splits_[shard.split].record(i));
      if (data) {
        STERNA_TRY(writer.append(*data));
        ++records;
      }
      if (++untold == kProgressStep) advance(std::exchange(untold, 0));
    }
    if (failed_) return {};
    STERNA_TRY(writer.finish());
    advance(untold);
    count(shard, records, 0);
    return {};
  }

  void count(const Shard& shard, std::uint64_t records, std::uint32_t kept) {
    const std::lock_guard lock(mutex_);
    ShardsWritten& written = written_[shard.split];
    written.records += records;
    written.left_out += shard.positions.count() - std::min(records, shard.positions.count());
    written.kept += kept;
  }

  void advance(std::uint64_t examples) {
    const std::lock_guard lock(mutex_);
    done_ += examples;
    if (progress_) progress_(done_, total_);
  }

  void fail(std::size_t shard, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (shard < failed_shard_) {
      failed_shard_ = shard;
      error_ = error;
    }
    failed_ = true;
  }

  const fs::path into_;
  const std::span<const ShardedSplit> splits_;
  const std::vector<Shard> shards_;
  const BuildProgress& progress_;
  std::uint64_t total_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // of all below
  std::uint64_t done_ = 0;
  std::vector<ShardsWritten> written_;
  std::size_t failed_shard_;
  Error error_;
};

}  // namespace

std::string shard_name(const ShardedSplit& split, std::uint32_t shard) {
  return fmt::format("{}-{:05}-of-{:05}", split.prefix, shard, split.shards);
}

Result<std::vector<ShardsWritten>> write_shards(const fs::path& into,
                                                std::span<const ShardedSplit> splits,
                                                unsigned threads, const BuildProgress& progress) {
  Writing writing(into, splits, progress);
  STERNA_TRY(writing.clean());
  const std::size_t useful = std::min<std::size_t>(std::max(threads, 1U), writing.shards());
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < useful; ++i) others.emplace_back([&] { writing.work(); });
  writing.work();
  for (std::thread& other : others) other.join();
  return std::move(writing).result();
}

}  // namespace sterna::input
