#include "input/records/record_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "input/files/sha256.h"
#include "input/records/cache_name.h"
#include "input/records/crc32c.h"
#include "input/records/little_endian.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "STERNAX1";
constexpr std::size_t kHeader = kMagic.size() + 3 * sizeof(std::uint64_t);
constexpr std::size_t kEntry = 2 * sizeof(std::uint32_t);
constexpr std::size_t kChecksum = sizeof(std::uint32_t);
static_assert(kMostRecordBytes <= std::numeric_limits<std::uint32_t>::max());

/// The bytes of a file around where headers lie, a page at a time: one read for many small records,
/// and no more than that for a large one.
class Window {
 public:
  explicit Window(const RecordFile& file) : file_(file) {}

  /// The `size` bytes at `offset`, all within the file; of no use after the next call.
  Result<std::span<const std::uint8_t>> at(std::uint64_t offset, std::size_t size) {
    if (offset < start_ || offset + size > start_ + held_) {
      STERNA_ASSIGN(held_, file_.read_at(offset, bytes_));
      start_ = offset;
      if (held_ < size) {
        return Error{Errc::io, file_.path().string() + " has become shorter; start again"};
      }
    }
    return std::span<const std::uint8_t>(bytes_).subspan(offset - start_, size);
  }

 private:
  const RecordFile& file_;
  std::uint64_t start_ = 0;
  std::size_t held_ = 0;
  std::array<std::uint8_t, 4096> bytes_{};
};

/// The place of the record whose header is at `offset`, before the file's end.
Result<RecordPlace> place_at(const RecordFile& file, Window& window, std::uint64_t number,
                             std::uint64_t offset) {
  const auto cut_short = [&](std::string_view what) {
    return Error{Errc::malformed,
                 fmt::format("{}: {}: the file is cut short; fetch or copy it again",
                             file.describe(number, offset), what)};
  };
  const std::uint64_t left = file.size() - offset;
  if (left < kRecordHeader) {
    return cut_short(fmt::format("{} bytes are left, and its header has {}", left, kRecordHeader));
  }
  STERNA_ASSIGN(const auto header, window.at(offset, kRecordHeader));
  STERNA_ASSIGN(const std::uint64_t length,
                record_length(header.first<kRecordHeader>()).in(file.describe(number, offset)));
  if (left < kRecordFrame || length > left - kRecordFrame) {
    return cut_short(fmt::format("it declares {} bytes, and {} are left", length,
                                 left - std::min<std::uint64_t>(left, kRecordFrame)));
  }
  STERNA_ASSIGN(const auto footer, window.at(offset + kRecordHeader + length, kRecordFooter));
  return RecordPlace{.number = number,
                     .offset = offset,
                     .length = length,
                     .crc = get_little_endian<std::uint32_t>(footer)};
}

/// The index in the file `kept`, if it is that of `file`.
std::optional<RecordIndex> read_kept(const fs::path& kept, const RecordFile& file) {
  const std::uint64_t most_records = file.size() / kRecordFrame;
  const Result<std::string> bytes =
      read_file(kept, kHeader + kChecksum + static_cast<std::size_t>(most_records) * kEntry);
  return bytes ? RecordIndex::decode(*bytes, file) : std::nullopt;
}

}  // namespace

Result<RecordIndex> RecordIndex::scan(const RecordFile& file) {
  RecordIndex index;
  Window window(file);
  for (std::uint64_t offset = 0; offset < file.size();) {
    STERNA_ASSIGN(const RecordPlace place, place_at(file, window, index.count(), offset));
    index.entries_.push_back({offset, static_cast<std::uint32_t>(place.length), place.crc});
    offset += kRecordFrame + place.length;
  }
  if (!file.unchanged()) {
    return Error{Errc::io, file.path().string() + " was changed while it was read; start again"};
  }
  return index;
}

std::optional<RecordIndex> RecordIndex::decode(std::string_view kept, const RecordFile& file) {
  const std::span<const std::uint8_t> all(reinterpret_cast<const std::uint8_t*>(kept.data()),
                                          kept.size());
  if (all.size() < kHeader + kChecksum || !kept.starts_with(kMagic)) return std::nullopt;
  const auto summed = all.first(all.size() - kChecksum);
  if (get_little_endian<std::uint32_t>(all.last<kChecksum>()) != crc32c(summed)) {
    return std::nullopt;
  }
  const auto number = [&](std::size_t i) {
    return get_little_endian<std::uint64_t>(all.subspan(kMagic.size() + 8 * i));
  };
  if (number(0) != file.size() || static_cast<std::int64_t>(number(1)) != file.modified_ns()) {
    return std::nullopt;
  }
  auto bytes = summed.subspan(kHeader);
  if (bytes.size() % kEntry != 0 || number(2) != bytes.size() / kEntry) return std::nullopt;
  // With the right sum it may still be made up: no record may lie outside the file.
  RecordIndex index;
  index.entries_.reserve(bytes.size() / kEntry);
  std::uint64_t offset = 0;
  for (; !bytes.empty(); bytes = bytes.subspan(kEntry)) {
    const auto length = get_little_endian<std::uint32_t>(bytes);
    const auto crc = get_little_endian<std::uint32_t>(bytes.subspan(sizeof length));
    if (length > kMostRecordBytes) return std::nullopt;
    index.entries_.push_back({offset, length, crc});
    offset += kRecordFrame + length;
    if (offset > file.size()) return std::nullopt;
  }
  if (offset != file.size()) return std::nullopt;
  return index;
}

std::vector<std::uint8_t> RecordIndex::encode(const RecordFile& file) const {
  std::vector<std::uint8_t> bytes(kHeader + kEntry * count() + kChecksum);
  std::span<std::uint8_t> out = bytes;
  const auto put = [&out](auto value) {
    put_little_endian(value, out);
    out = out.subspan(sizeof value);
  };
  std::copy(kMagic.begin(), kMagic.end(), out.begin());
  out = out.subspan(kMagic.size());
  put(file.size());
  put(static_cast<std::uint64_t>(file.modified_ns()));
  put(std::uint64_t{count()});
  for (const Entry& entry : entries_) {
    put(entry.length);
    put(entry.crc);
  }
  put(crc32c(std::span(bytes).first(bytes.size() - kChecksum)));
  return bytes;
}

RecordPlace RecordIndex::place(std::size_t number) const {
  const Entry& entry = entries_[number];
  return {.number = number, .offset = entry.offset, .length = entry.length, .crc = entry.crc};
}

Result<KeptIndex> load_index(const RecordFile& file, const fs::path& cache) {
  fs::path beside = file.path();
  beside += kIndexSuffix;
  const fs::path cached = cache / (cache_name(file.path()) + std::string(kIndexSuffix));
  for (const fs::path& kept : {beside, cached}) {
    if (std::optional<RecordIndex> index = read_kept(kept, file)) {
      return KeptIndex{.index = *std::move(index), .kept = kept, .scanned = false};
    }
  }
  KeptIndex loaded;
  loaded.scanned = true;
  STERNA_ASSIGN(loaded.index, RecordIndex::scan(file));
  const std::vector<std::uint8_t> bytes = loaded.index.encode(file);
  const ByteView part = std::as_bytes(std::span(bytes));
  if (write_atomically(beside, {&part, 1})) {
    loaded.kept = beside;
  } else if (make_directory(cache) && write_atomically(cached, {&part, 1})) {
    loaded.kept = cached;
  }
  return loaded;
}

std::string sha256_of_indexes(std::span<const RecordIndex> indexes) {
  Sha256 sum;
  for (const RecordIndex& index : indexes) {
    for (std::size_t i = 0; i < index.count(); ++i) {
      const RecordPlace place = index.place(i);
      std::array<std::uint8_t, sizeof place.length + sizeof place.crc> bytes{};
      put_little_endian(place.length, std::span<std::uint8_t>(bytes));
      put_little_endian(place.crc, std::span<std::uint8_t>(bytes).subspan(sizeof place.length));
      sum.update(std::as_bytes(std::span(bytes)));
    }
  }
  return sum.hex();
}

}  // namespace sterna::input
