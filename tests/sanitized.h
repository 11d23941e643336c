// Whether a sanitizer looks on: code is several times slower then, and memory is kept back.
#pragma once

namespace sterna::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// Of many moments at which something may happen a sanitizer sees one in so many: it wants code to
/// run, not each of them.
class FewMoments {
 public:
  bool leaves_out() { return kSanitized && seen_++ % kOneIn != 0; }

 private:
  static constexpr int kOneIn = 12;
  int seen_ = 0;
};

}  // namespace sterna::test
