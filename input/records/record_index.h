// Where the records of a TFRecord file lie. Found by reading lengths and CRCs alone, then kept in
// a small file, and found again where the TFRecord file has changed since.
//
//   FILE.sterna-index, or in the cache, little-endian:
//   "STERNAX1"  u64 size of FILE  i64 its time of change (ns)  u64 records
//   a record: u32 length  u32 stored CRC        then u32 CRC32C of all of this
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/records/tfrecord.h"
#include "runtime/base/result.h"

namespace sterna::input {

inline constexpr std::string_view kIndexSuffix = ".sterna-index";

/// The records of one file, in its order: 16 bytes of memory a record. Plain data.
class RecordIndex {
 public:
  /// By reading the file's lengths and stored CRCs, not its data. `malformed` where they do not fit
  /// the file: cut short, damaged, or none of TFRecord's.
  static Result<RecordIndex> scan(const RecordFile& file);

  /// What encode() wrote for a file of this size and time; none where it is of another, damaged or
  /// made up.
  static std::optional<RecordIndex> decode(std::string_view kept, const RecordFile& file);
  std::vector<std::uint8_t> encode(const RecordFile& file) const;

  std::size_t count() const { return entries_.size(); }
  /// number < count().
  RecordPlace place(std::size_t number) const;

 private:
  struct Entry {
    std::uint64_t offset;
    std::uint32_t length;
    std::uint32_t crc;
  };
  std::vector<Entry> entries_;
};

/// An index, and where it is kept: nowhere (empty) if neither place can be written.
struct KeptIndex {
  RecordIndex index;
  std::filesystem::path kept;
  bool scanned = false;  ///< none was kept for the file as it is now
};

/// The index kept for `file`, beside it or in the folder `cache`; else a new one, kept beside it,
/// or in the cache where that folder cannot be written. A kept one that does not fit is replaced,
/// never an error.
Result<KeptIndex> load_index(const RecordFile& file, const std::filesystem::path& cache);

/// What names a data set in TFRecord files, as hexadecimal: the SHA-256 over each record's length
/// (u64) and stored CRC (u32), little-endian, in the order of the files. However the records are
/// cut into files, it is the same.
std::string sha256_of_indexes(std::span<const RecordIndex> indexes);

}  // namespace sterna::input
