// The picture records of several TFRecord files, counted from the first file's first to the last
// one's last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "input/records/example.h"
#include "input/records/record_index.h"
#include "input/records/tfrecord.h"
#include "input/records/unpacked.h"
#include "runtime/base/result.h"

namespace sterna::input {

/// Read by position, from kept indexes. Any threads may read at once. However many files there are,
/// a bounded number is open: the others are opened for each record.
class RecordSet {
 public:
  /// Packed files are unpacked into the options' cache, where indexes are kept, too, if they cannot
  /// lie beside their files. Errors: those of opening, unpacking and indexing a file.
  static Result<RecordSet> open(std::span<const std::filesystem::path> files,
                                const UnpackOptions& options);

  std::uint64_t count() const { return ends_.empty() ? 0 : ends_.back(); }
  /// Record `index` < count(). Errors name its place: `malformed` where it is damaged.
  Result<PictureRecord> read(std::uint64_t index) const;
  /// Tells the kernel that this record will be read soon.
  void announce(std::uint64_t index) const;
  /// "FILE: record 17 at byte 3312".
  std::string place_of(std::uint64_t index) const;

  /// The records of one file: [first, end).
  struct File {
    std::size_t number = 0;  ///< of those that were opened
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  File file_of(std::uint64_t index) const;
  /// What names the data set: sha256_of_indexes().
  std::string sha256() const { return sha256_of_indexes(indexes_); }

 private:
  struct Where {
    std::size_t file;
    RecordPlace place;
  };
  Where locate(std::uint64_t index) const;

  std::vector<std::filesystem::path> paths_;
  std::vector<RecordFile> open_;  // the first of them
  std::vector<RecordIndex> indexes_;
  std::vector<std::uint64_t> ends_;  // by file: one past its last record
};

}  // namespace sterna::input
