#include "input/files/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace sterna::input {

namespace {
constexpr std::size_t kWindow = std::size_t{64} * 1024;
// Deflate's densest code is 258 bytes from 2 bits: 1,032 to 1 (zlib's technical notes).
constexpr std::uint64_t kDeflateRatio = 1032;
// 15 bits of window, and 16 for "a gzip wrapper" (zlib.h, inflateInit2).
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kGzipOrZlibWindowBits = 15 + 32;
}  // namespace

class ByteSource::Impl {
 public:
  Impl(std::string name, int descriptor, std::uint64_t file_size)
      : name_(std::move(name)), descriptor_(descriptor), file_size_(file_size) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (inflating_) inflateEnd(&stream_);
    close(descriptor_);
  }

  /// Looks whether the file is gzip, and if so, unpacks it from now on.
  Result<void> detect_gzip() {
    STERNA_TRY(refill());
    compressed_ = left_.size() >= 2 && left_[0] == 0x1f && left_[1] == 0x8b;
    if (!compressed_) return {};
    return unpack(kGzipWindowBits);
  }

  Result<void> expect_packed() {
    compressed_ = true;
    return unpack(kGzipOrZlibWindowBits);
  }

  Result<std::size_t> read(std::span<std::uint8_t> out) {
    return compressed_ ? inflate_into(out) : copy_into(out);
  }

  std::uint64_t limit() const {
    if (!compressed_) return file_size_;
    constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
    return file_size_ > kMax / kDeflateRatio ? kMax : file_size_ * kDeflateRatio;
  }
  bool compressed() const { return compressed_; }

 private:
  Result<void> unpack(int window_bits) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) {
      return Error{Errc::unavailable, name_ + ": zlib cannot start"};
    }
    inflating_ = true;
    return {};
  }

  /// Reads the next window; `left_` stays empty at the end of the file.
  Result<void> refill() {
    ssize_t got = 0;
    do {
      got = ::read(descriptor_, window_.data(), window_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) return system_error("cannot read " + name_, errno);
    left_ = std::span(window_).first(static_cast<std::size_t>(got));
    return {};
  }

  Result<std::size_t> copy_into(std::span<std::uint8_t> out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (left_.empty()) STERNA_TRY(refill());
      if (left_.empty()) break;
      const std::size_t take = std::min(left_.size(), out.size() - filled);
      std::memcpy(out.data() + filled, left_.data(), take);
      left_ = left_.subspan(take);
      filled += take;
    }
    return filled;
  }

  Result<std::size_t> inflate_into(std::span<std::uint8_t> out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (left_.empty()) STERNA_TRY(refill());
      if (member_ended_) {
        if (left_.empty()) break;
        // Of a tape's or a disk's block, as gzip(1) takes them.
        if (left_.front() == 0) {
          STERNA_TRY(skip_padding());
          break;
        }
        // RFC 1952: a gzip file is one member or several in a row.
        if (inflateReset(&stream_) != Z_OK) return corrupt("zlib cannot go on");
        member_ended_ = false;
      }
      if (left_.empty()) return corrupt("the packed stream is cut short");
      const std::size_t room = std::min<std::size_t>(out.size() - filled, 1U << 30);
      stream_.next_in = left_.data();
      stream_.avail_in = static_cast<uInt>(left_.size());
      stream_.next_out = out.data() + filled;
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      left_ = left_.subspan(left_.size() - stream_.avail_in);
      filled += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        member_ended_ = true;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return corrupt(stream_.msg != nullptr ? stream_.msg : "the packed stream is damaged");
      }
    }
    return filled;
  }

  /// Behind a member: nothing but zeros up to the file's end.
  Result<void> skip_padding() {
    while (!left_.empty()) {
      const auto other =
          std::find_if(left_.begin(), left_.end(), [](auto byte) { return byte != 0; });
      if (other != left_.end())
        return corrupt("other bytes than zeros lie behind its packed stream");
      STERNA_TRY(refill());
    }
    return {};
  }

  Error corrupt(const char* what) const {
    return {Errc::malformed, name_ + ": " + what + "; fetch or copy the file again"};
  }

  std::string name_;
  int descriptor_;
  std::uint64_t file_size_;
  bool compressed_ = false;
  bool inflating_ = false;
  bool member_ended_ = false;
  z_stream stream_{};
  std::array<std::uint8_t, kWindow> window_{};
  std::span<std::uint8_t> left_;  ///< what of `window_` has not been used yet
};

Result<std::unique_ptr<ByteSource::Impl>> ByteSource::open_file(const std::filesystem::path& path) {
  // O_NONBLOCK: a named pipe must be refused, not waited on.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int saved = errno;
    Error error = system_error("cannot open " + path.string(), saved);
    if (saved == ENOENT || saved == ENOTDIR) error.code = Errc::not_found;
    if (saved == EACCES) error.code = Errc::permission;
    return error;
  }
  struct stat status {};
  const bool known = fstat(descriptor, &status) == 0;
  auto impl = std::make_unique<Impl>(path.string(), descriptor,
                                     known ? static_cast<std::uint64_t>(status.st_size) : 0);
  if (!known) return system_error("cannot open " + path.string(), errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{Errc::invalid_argument, path.string() + " is not a regular file"};
  }
  return impl;
}

Result<ByteSource> ByteSource::open(const std::filesystem::path& path) {
  STERNA_ASSIGN(std::unique_ptr<Impl> impl, open_file(path));
  STERNA_TRY(impl->detect_gzip());
  return ByteSource(std::move(impl));
}

Result<ByteSource> ByteSource::open_raw(const std::filesystem::path& path) {
  STERNA_ASSIGN(std::unique_ptr<Impl> impl, open_file(path));
  return ByteSource(std::move(impl));
}

Result<ByteSource> ByteSource::open_packed(const std::filesystem::path& path) {
  STERNA_ASSIGN(std::unique_ptr<Impl> impl, open_file(path));
  STERNA_TRY(impl->expect_packed());
  return ByteSource(std::move(impl));
}

Result<std::size_t> ByteSource::read(std::span<std::uint8_t> out) { return impl_->read(out); }
std::uint64_t ByteSource::limit() const { return impl_->limit(); }
bool ByteSource::compressed() const { return impl_->compressed(); }

ByteSource::ByteSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

}  // namespace sterna::input
