// Whether a sanitizer looks on: code is several times slower then, and memory is kept back.
#pragma once

#include <cstdint>

namespace sterna::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// How many of so many seeds are tried: one in twenty where a sanitizer looks on, at least one.
constexpr std::uint64_t seeds_of(std::uint64_t all) { return kSanitized ? (all + 19) / 20 : all; }

/// Of many moments at which something may happen, or ways to do it, a sanitizer sees one in so
/// many: it wants code to run, not each of them.
class Few {
 public:
  explicit Few(int one_in = 12) : one_in_(one_in) {}
  bool leaves_out() { return kSanitized && seen_++ % one_in_ != 0; }

 private:
  int one_in_;
  int seen_ = 0;
};

}  // namespace sterna::test
