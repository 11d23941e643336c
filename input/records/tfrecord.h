// TFRecord files, by position: a record is its length (8 bytes, little-endian), the masked CRC32C
// of those 8 bytes, its data, and the masked CRC32C of the data.
//
// A file is trusted with nothing: a length is believed only when its CRC fits and the file holds as
// much, before anything is allocated. Errors name the file, the record and its place, and say what
// to do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "input/files/pending_file.h"
#include "runtime/base/result.h"

namespace sterna::input {

inline constexpr std::size_t kRecordHeader = 12;  ///< bytes: the length and its CRC
inline constexpr std::size_t kRecordFooter = 4;   ///< bytes: the CRC of the data
inline constexpr std::size_t kRecordFrame = kRecordHeader + kRecordFooter;

/// Larger records are refused: a raw picture of FamilyOptions::most_pixels has 192 MiB.
inline constexpr std::uint64_t kMostRecordBytes = std::uint64_t{256} << 20;

/// Where a record lies in its file, and what it must be.
struct RecordPlace {
  std::uint64_t number = 0;  ///< of the record in its file, from 0
  std::uint64_t offset = 0;  ///< of its header, in bytes
  std::uint64_t length = 0;  ///< of its data, in bytes
  std::uint32_t crc = 0;     ///< of its data, as stored: masked
  bool operator==(const RecordPlace&) const = default;
};

/// The length in a record's header, where its CRC fits and it is at most kMostRecordBytes.
Result<std::uint64_t> record_length(std::span<const std::uint8_t, kRecordHeader> header);

/// A TFRecord file that is open for reading by position. Any threads may read at once.
class RecordFile {
 public:
  /// Errors: not_found, permission, invalid_argument (not a regular file), io.
  static Result<RecordFile> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Bytes, and nanoseconds since 1970, when it was opened.
  std::uint64_t size() const { return size_; }
  std::int64_t modified_ns() const { return modified_ns_; }
  /// Whether it still has the size and the time that it had when it was opened.
  bool unchanged() const;

  /// Puts the data of the record at `place` in `data`, whose memory is used again. `malformed`
  /// where the file does not hold this very record: it is damaged, or its index is older than it.
  Result<void> read(const RecordPlace& place, std::vector<std::uint8_t>& data) const;
  /// Tells the kernel that this record will be read soon, and does not wait for it.
  void announce(const RecordPlace& place) const;

  /// Fills `out` from `offset` on and returns how many bytes it got: fewer only at the file's end.
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::uint8_t> out) const;

  /// "FILE: record 17 at byte 3312", for errors.
  std::string describe(std::uint64_t number, std::uint64_t offset) const;

  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&& other) noexcept;
  ~RecordFile();

 private:
  RecordFile(std::filesystem::path path, int file);
  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::int64_t modified_ns_ = 0;
};

/// What stands before and behind a record's data.
struct RecordFrame {
  std::array<std::uint8_t, kRecordHeader> header;
  std::array<std::uint8_t, kRecordFooter> footer;
};
RecordFrame frame_of(std::span<const std::uint8_t> data);

/// Writes a TFRecord file, which appears with finish(), whole, or not at all.
class TfRecordWriter {
 public:
  static Result<TfRecordWriter> create(const std::filesystem::path& path);
  /// `data` of at most kMostRecordBytes; more is `invalid_argument`.
  Result<void> append(std::span<const std::uint8_t> data);
  Result<void> finish() { return file_.finish(); }

 private:
  explicit TfRecordWriter(PendingFile file) : file_(std::move(file)) {}
  PendingFile file_;
};

}  // namespace sterna::input
