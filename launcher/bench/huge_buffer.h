// Memory for measuring: huge pages where the machine gives them, so that page walks cost no
// contender anything, and touched before the first round.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// Zeroed memory that starts at a huge page. It is its own, and moves.
class HugeBuffer {
 public:
  /// `bytes` > 0. Errc::unavailable where the machine has not so much memory.
  static Result<HugeBuffer> allocate(std::size_t bytes);
  HugeBuffer(HugeBuffer&& other) noexcept;
  HugeBuffer& operator=(HugeBuffer&& other) noexcept;
  ~HugeBuffer();

  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(start_), bytes_}; }
  std::span<float> floats() const { return {static_cast<float*>(start_), bytes_ / sizeof(float)}; }

 private:
  HugeBuffer(void* start, std::size_t bytes) : start_(start), bytes_(bytes) {}
  void* start_;
  std::size_t bytes_;
};

}  // namespace sterna::launcher
