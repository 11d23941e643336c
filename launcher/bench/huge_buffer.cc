#include "launcher/bench/huge_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace sterna::launcher {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

Result<HugeBuffer> HugeBuffer::allocate(std::size_t bytes) {
  const std::size_t pages = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* start = std::aligned_alloc(kHugePage, pages);
  if (start == nullptr) {
    return Error{Errc::unavailable, "no memory for " + std::to_string(bytes) + " bytes"};
  }
  // Refused on a machine without huge pages, which then measures with its own.
  static_cast<void>(::madvise(start, pages, MADV_HUGEPAGE));
  std::memset(start, 0, pages);
  return HugeBuffer(start, bytes);
}

HugeBuffer::HugeBuffer(HugeBuffer&& other) noexcept
    : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

HugeBuffer& HugeBuffer::operator=(HugeBuffer&& other) noexcept {
  std::swap(start_, other.start_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HugeBuffer::~HugeBuffer() { std::free(start_); }

}  // namespace sterna::launcher
