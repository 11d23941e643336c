#include "input/formats/file_mark.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "input/records/tfrecord.h"

namespace sterna::input {

Result<FileMark> mark_of(const std::filesystem::path& path) {
  constexpr std::uint64_t kEnd = 1024;
  STERNA_ASSIGN(const RecordFile file, RecordFile::open(path));
  FileMark mark{.size = file.size(), .modified_ns = file.modified_ns(), .ends = {}};
  const std::uint64_t first = std::min(mark.size, kEnd);
  const std::uint64_t last = std::min(mark.size - first, kEnd);
  mark.ends.resize(first + last);
  const std::span<std::uint8_t> ends = mark.ends;
  STERNA_ASSIGN(std::size_t got, file.read_at(0, ends.first(first)));
  if (got == first && last != 0) {
    STERNA_ASSIGN(const std::size_t more, file.read_at(mark.size - last, ends.subspan(first)));
    got += more;
  }
  mark.ends.resize(got);
  return mark;
}

}  // namespace sterna::input
