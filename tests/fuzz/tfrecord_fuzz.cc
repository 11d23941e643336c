// libFuzzer: whatever bytes a TFRecord file or its kept index has, reading ends in records or an
// error. An input is
//
//   [which sums are put right: 1 lengths', 2 data's, 4 the index's][bytes of index, mod 256]
//   [the index][the file]
#include <algorithm>
#include <string_view>
#include <vector>

#include "input/records/crc32c.h"
#include "input/records/little_endian.h"
#include "input/records/record_index.h"
#include "tests/fuzz/memory_file.h"

namespace {

using namespace sterna::input;
using Bytes = std::span<std::uint8_t>;

/// Makes the CRCs right as far as lengths fit, or no fuzzer would ever get past the first.
void put_right(Bytes file, bool lengths, bool data) {
  while (file.size() >= kRecordFrame) {
    if (lengths) put_little_endian(masked_crc32c(file.first(8)), file.subspan(8));
    const auto length = get_little_endian<std::uint64_t>(file);
    if (length > file.size() - kRecordFrame) return;
    const Bytes record = file.subspan(kRecordHeader, length);
    file = file.subspan(kRecordHeader + length);
    if (data) put_little_endian(masked_crc32c(record), file);
    file = file.subspan(kRecordFooter);
  }
}

void read_all(const RecordFile& file, const RecordIndex& index) {
  std::vector<std::uint8_t> data;
  for (std::size_t i = 0; i < index.count(); ++i) {
    const RecordPlace place = index.place(i);
    // An index that was believed lies within the file.
    if (place.offset + kRecordFrame + place.length > file.size()) __builtin_trap();
    if (file.read(place, data) && data.size() != place.length) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::vector<std::uint8_t> bytes(data + 2, data + size);
  const Bytes index = Bytes(bytes).first(std::min<std::size_t>(data[1], bytes.size()));
  const Bytes content = Bytes(bytes).subspan(index.size());
  put_right(content, (data[0] & 1) != 0, (data[0] & 2) != 0);
  const sterna::fuzz::MemoryFile memory(content);
  const auto file = RecordFile::open(memory.path());
  if (!file) __builtin_trap();
  if (const auto scanned = RecordIndex::scan(*file)) {
    read_all(*file, *scanned);
    const std::vector<std::uint8_t> kept = scanned->encode(*file);
    const auto again =
        RecordIndex::decode({reinterpret_cast<const char*>(kept.data()), kept.size()}, *file);
    if (!again || again->count() != scanned->count()) __builtin_trap();
  }
  // The time that a file in memory has is nobody's to guess, nor is a sum of all.
  if ((data[0] & 4) != 0 && index.size() >= 36) {
    put_little_endian(file->size(), index.subspan(8));
    put_little_endian(static_cast<std::uint64_t>(file->modified_ns()), index.subspan(16));
    put_little_endian(crc32c(index.first(index.size() - 4)), index.last(4));
  }
  const auto kept =
      RecordIndex::decode({reinterpret_cast<const char*>(index.data()), index.size()}, *file);
  if (kept) read_all(*file, *kept);
  return 0;
}
