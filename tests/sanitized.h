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
/// them. The first of the first so many, the last of the next, the one before that of those after
/// them: so that of loops within loops not always the same is left out.
class Few {
 public:
  explicit Few(int sanitized, int otherwise = 1) : one_in_(kSanitized ? sanitized : otherwise) {}
  bool leaves_out() {
    const int i = seen_++;
    return (i + i / one_in_) % one_in_ != 0;
  }

 private:
  int one_in_;
  int seen_ = 0;
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
