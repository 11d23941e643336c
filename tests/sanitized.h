// Whether a sanitizer looks on: code is several times slower then, and memory is kept back. And how
// many of the seeds, ways and moments of something a test tries.
#pragma once

#include <cstdint>
#include <cstdlib>

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

/// Of many ways to do something a sanitizer sees one in so many: it wants code to run, not each of
/// them. The first, and then such as lie evenly, but at no period that a loop within a loop may
/// have, whose first way alone would be seen: multiples of the golden ratio whose fractions are
/// small (Knuth, TAOCP 3, 6.4).
class Few {
 public:
  explicit Few(int sanitized, int otherwise = 1)
      : one_in_(static_cast<std::uint32_t>(kSanitized ? sanitized : otherwise)) {}
  bool leaves_out() {
    constexpr std::uint32_t kGolden = 0x9E3779B9;
    return seen_++ * kGolden > UINT32_MAX / one_in_;
  }

 private:
  std::uint32_t one_in_;
  std::uint32_t seen_ = 0;
};

/// Whether all moments are tried, as the script `tests/wide` does, which takes its time.
inline bool wide() {
  static const bool asked = std::getenv("STERNA_WIDE") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  return asked;
}

/// Of many moments at which something may happen: one in three, unless all are.
struct Moments : Few {
  explicit Moments(int sanitized = 12) : Few(sanitized, wide() ? 1 : 3) {}
};

}  // namespace sterna::test
