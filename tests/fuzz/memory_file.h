// A fuzzed input as a file, for readers that take a path: in memory, and gone with this.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace sterna::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes)
      : file_(::memfd_create("fuzzed", MFD_CLOEXEC)) {
    std::size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t wrote = ::write(file_, bytes.data() + written, bytes.size() - written);
      if (wrote <= 0) __builtin_trap();
      written += static_cast<std::size_t>(wrote);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(file_); }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace sterna::fuzz
