#include "input/records/tfrecord.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "input/records/crc32c.h"
#include "input/records/little_endian.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

std::int64_t modified_ns_of(const struct stat& status) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  // A clock that is off by centuries must not overflow.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kSecond +
                                   static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

}  // namespace

Result<std::uint64_t> record_length(std::span<const std::uint8_t, kRecordHeader> header) {
  const auto length = get_little_endian<std::uint64_t>(header);
  if (get_little_endian<std::uint32_t>(header.subspan(sizeof length)) !=
      masked_crc32c(header.first(sizeof length))) {
    return Error{Errc::malformed,
                 "the length does not match its CRC: this is no TFRecord file, or a damaged one; "
                 "fetch or copy it again"};
  }
  if (length > kMostRecordBytes) {
    return Error{Errc::malformed, fmt::format("it declares {} bytes, and a record may have {}",
                                              length, kMostRecordBytes)};
  }
  return length;
}

RecordFile::RecordFile(fs::path path, int file) : path_(std::move(path)), file_(file) {}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      size_(other.size_),
      modified_ns_(other.modified_ns_) {}

RecordFile& RecordFile::operator=(RecordFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  std::swap(modified_ns_, other.modified_ns_);
  return *this;
}

RecordFile::~RecordFile() {
  if (file_ >= 0) ::close(file_);
}

Result<RecordFile> RecordFile::open(const fs::path& path) {
  // O_NONBLOCK: a named pipe must be refused, not waited on.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    const int saved = errno;
    Error error = system_error("cannot open " + path.string(), saved);
    if (saved == ENOENT || saved == ENOTDIR) error.code = Errc::not_found;
    if (saved == EACCES) error.code = Errc::permission;
    return error;
  }
  RecordFile opened(path, file);
  struct stat status {};
  if (::fstat(file, &status) != 0) return system_error("cannot open " + path.string(), errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{Errc::invalid_argument, path.string() + " is not a regular file"};
  }
  opened.size_ = static_cast<std::uint64_t>(status.st_size);
  opened.modified_ns_ = modified_ns_of(status);
  // Records are read in a shuffled order: what the kernel would read ahead by itself is not next.
  ::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  return opened;
}

bool RecordFile::unchanged() const {
  struct stat status {};
  return ::fstat(file_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) == size_ &&
         modified_ns_of(status) == modified_ns_;
}

Result<void> RecordFile::read(const RecordPlace& place, std::vector<std::uint8_t>& data) const {
  const auto problem = [&](std::string_view what) {
    return Error{Errc::malformed,
                 fmt::format("{}: {}", describe(place.number, place.offset), what)};
  };
  if (place.length > kMostRecordBytes || size_ < kRecordFrame ||
      place.offset > size_ - kRecordFrame || place.length > size_ - kRecordFrame - place.offset) {
    return problem("it would end behind the file's end; delete the file's index");
  }
  std::array<std::uint8_t, kRecordHeader> header{};
  STERNA_ASSIGN(const std::size_t header_got, read_at(place.offset, header));
  if (header_got < header.size()) return problem("the file has become shorter; start again");
  STERNA_ASSIGN(const std::uint64_t length,
                record_length(header).in(describe(place.number, place.offset)));
  if (length != place.length) {
    return problem(
        fmt::format("it has {} bytes, but {} in the index: the file has changed; delete "
                    "its index",
                    length, place.length));
  }
  data.resize(length + kRecordFooter);
  STERNA_ASSIGN(const std::size_t got, read_at(place.offset + kRecordHeader, data));
  if (got < data.size()) return problem("the file has become shorter; start again");
  const auto stored = get_little_endian<std::uint32_t>(std::span(data).last<kRecordFooter>());
  data.resize(length);
  if (masked_crc32c(data) != stored) {
    return problem("its data do not match their CRC: the file is damaged; fetch or copy it again");
  }
  if (stored != place.crc) {
    return problem("it is not the record of the index: the file has changed; delete its index");
  }
  return {};
}

void RecordFile::announce(const RecordPlace& place) const {
  ::posix_fadvise(file_, static_cast<off_t>(place.offset),
                  static_cast<off_t>(place.length + kRecordFrame), POSIX_FADV_WILLNEED);
}

Result<std::size_t> RecordFile::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::pread(file_, out.data() + filled, out.size() - filled,
                                static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("cannot read " + path_.string(), errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

std::string RecordFile::describe(std::uint64_t number, std::uint64_t offset) const {
  return fmt::format("{}: record {} at byte {}", path_.string(), number, offset);
}

RecordFrame frame_of(std::span<const std::uint8_t> data) {
  RecordFrame frame{};
  const std::span<std::uint8_t> header = frame.header;
  const std::uint64_t length = data.size();
  put_little_endian(length, header);
  put_little_endian(masked_crc32c(header.first(sizeof length)), header.subspan(sizeof length));
  put_little_endian(masked_crc32c(data), std::span<std::uint8_t>(frame.footer));
  return frame;
}

Result<TfRecordWriter> TfRecordWriter::create(const fs::path& path) {
  STERNA_ASSIGN(PendingFile file, PendingFile::create(path));
  return TfRecordWriter(std::move(file));
}

Result<void> TfRecordWriter::append(std::span<const std::uint8_t> data) {
  if (data.size() > kMostRecordBytes) {
    return Error{Errc::invalid_argument,
                 fmt::format("{}: a record of {} bytes, and at most {} are read back",
                             file_.path().string(), data.size(), kMostRecordBytes)};
  }
  const RecordFrame frame = frame_of(data);
  STERNA_TRY(file_.append(frame.header));
  STERNA_TRY(file_.append(data));
  return file_.append(frame.footer);
}

}  // namespace sterna::input
