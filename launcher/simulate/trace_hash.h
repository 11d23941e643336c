// TraceHash: one number for everything that happens in a simulated run, in its order. Two runs of a
// seed that differ anywhere differ in it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/base/bytes.h"

namespace sterna::launcher {

class TraceHash {
 public:
  void add(std::uint64_t word) {
    // The finalizer of SplitMix64 over what has come so far.
    std::uint64_t z = (state_ ^ word) + 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    state_ = z ^ (z >> 31);
  }
  void add(ByteView bytes) {
    add(bytes.size());
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t size = std::min(bytes.size(), sizeof(word));
      std::memcpy(&word, bytes.data(), size);
      add(word);
      bytes = bytes.subspan(size);
    }
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace sterna::launcher
