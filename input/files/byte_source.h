// The bytes of a file, plain or gzip (told by its first two bytes, not by its name), as a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "runtime/base/result.h"

namespace sterna::input {

/// Reads a file once from front to back in bounded memory (a 64 KiB window). Every error names the
/// file.
class ByteSource {
 public:
  /// Fails if `path` is missing, unreadable or not a regular file.
  static Result<ByteSource> open(const std::filesystem::path& path);
  /// The same, but a gzip file's bytes come as they are.
  static Result<ByteSource> open_raw(const std::filesystem::path& path);
  /// The same, of a file that is known to be gzip or zlib (RFC 1950): anything else is `malformed`.
  static Result<ByteSource> open_packed(const std::filesystem::path& path);

  /// Fills `out` and returns how many bytes it got: fewer than asked only at the end of the file.
  /// A packed stream that is cut short or does not match its checksum is `malformed`.
  Result<std::size_t> read(std::span<std::uint8_t> out);

  /// No file of this size can yield more bytes than this; so a header that declares more lies, and
  /// nobody needs to allocate what it asks for.
  std::uint64_t limit() const;

  bool compressed() const;

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

 private:
  class Impl;
  static Result<std::unique_ptr<Impl>> open_file(const std::filesystem::path& path);
  explicit ByteSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sterna::input
