#include "input/records/unpacked.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "input/files/byte_source.h"
#include "input/files/pending_file.h"
#include "input/records/cache_name.h"
#include "input/records/crc32c.h"
#include "input/records/little_endian.h"
#include "input/records/record_index.h"
#include "input/records/tfrecord.h"
#include "runtime/base/byte_size.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

using Beginning = std::array<std::uint8_t, kRecordHeader>;

bool begins_with_record(const Beginning& bytes) {
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  const std::span<const std::uint8_t> all = bytes;
  return get_little_endian<std::uint32_t>(all.subspan(kLength)) ==
         masked_crc32c(all.first(kLength));
}

/// The first bytes of gzip are RFC 1952's; of zlib they are deflate's method and a multiple of 31
/// (RFC 1950).
Result<bool> is_packed(const RecordFile& file) {
  Beginning bytes{};
  STERNA_ASSIGN(const std::size_t got, file.read_at(0, bytes));
  if (got == bytes.size() && begins_with_record(bytes)) return false;
  if (bytes[0] == 0x1f && bytes[1] == 0x8b) return true;
  const bool deflate = (bytes[0] & 0x0f) == 8 && bytes[0] >> 4 <= 7;
  return deflate && (bytes[0] << 8 | bytes[1]) % 31 == 0;
}

/// Removes what was unpacked of the same file before, with the index of its records.
void remove_older(const fs::path& kept, std::string_view own_beginning, std::string_view ending) {
  std::error_code failed;
  for (fs::directory_iterator entry(kept.parent_path(), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    std::string_view unpacked = name;
    if (unpacked.ends_with(kIndexSuffix)) unpacked.remove_suffix(kIndexSuffix.size());
    const bool same = unpacked.starts_with(own_beginning) && unpacked.ends_with(ending);
    std::error_code ignored;
    if (same && unpacked != kept.filename()) fs::remove(entry->path(), ignored);
  }
}

Result<void> unpack(const fs::path& packed, const fs::path& plain, std::uint64_t most_bytes) {
  STERNA_ASSIGN(ByteSource source, ByteSource::open_packed(packed));
  Beginning beginning{};
  STERNA_ASSIGN(std::size_t got, source.read(beginning));
  if (got != 0 && (got < beginning.size() || !begins_with_record(beginning))) {
    return Error{Errc::malformed, packed.string() +
                                      " does not unpack to a TFRecord file; is it the "
                                      "right file?"};
  }
  STERNA_ASSIGN(PendingFile file, PendingFile::create(plain));
  std::vector<std::uint8_t> bytes(beginning.begin(), beginning.begin() + got);
  std::uint64_t written = 0;
  while (got != 0) {
    written += got;
    if (written > most_bytes) {
      return Error{
          Errc::malformed,
          fmt::format("{} unpacks to more than the {} that the cache has for it ({}); make room "
                      "there, or unpack it by hand if it is meant to be so large",
                      packed.string(), byte_size_text(most_bytes), plain.parent_path().string())};
    }
    STERNA_TRY(file.append(std::span(bytes).first(got)));
    bytes.resize(std::size_t{64} * 1024);
    STERNA_ASSIGN(got, source.read(bytes));
  }
  return file.finish();
}

/// So that no data set is seen in the cache.
constexpr std::string_view kEnding = ".unpacked";

/// Of what is free in `folder` a sixteenth is left to others.
std::uint64_t room_in(const fs::path& folder) {
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  // Some network file systems say nothing of their size.
  if (unknown || space.capacity == 0) return std::numeric_limits<std::uint64_t>::max();
  return space.available - space.available / 16;
}

/// The unpacked form of `file`, in the cache.
Result<fs::path> kept_plain(const RecordFile& file, const fs::path& cache,
                            std::uint64_t most_bytes) {
  const std::string name = cache_name(file.path());
  fs::path kept = cache / fmt::format("{}.{}-{}{}", name, file.size(), file.modified_ns(), kEnding);
  std::error_code failed;
  if (const std::uint64_t size = fs::file_size(kept, failed); !failed && size <= most_bytes) {
    return kept;
  }
  remove_older(kept, name + ".", kEnding);
  STERNA_TRY(unpack(file.path(), kept, std::min(most_bytes, room_in(cache))));
  return kept;
}

}  // namespace

Result<std::vector<fs::path>> plain_record_files(std::span<const fs::path> files,
                                                 const UnpackOptions& options) {
  std::vector<fs::path> plain;
  bool cleaned = false;
  std::uint64_t left = options.most_bytes;
  for (const fs::path& path : files) {
    STERNA_ASSIGN(const RecordFile file, RecordFile::open(path));
    STERNA_ASSIGN(const bool packed, is_packed(file));
    if (!packed) {
      plain.push_back(path);
      continue;
    }
    if (!std::exchange(cleaned, true)) {
      STERNA_TRY(make_directory(options.cache));
      PendingFile::remove_abandoned(options.cache, kEnding);
    }
    STERNA_ASSIGN(fs::path kept, kept_plain(file, options.cache, left));
    std::error_code ignored;
    left -= std::min<std::uint64_t>(left, fs::file_size(kept, ignored));
    plain.push_back(std::move(kept));
  }
  return plain;
}

}  // namespace sterna::input
