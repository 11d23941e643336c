// The threads that share an operation of our own: OpenMP's, in which oneDNN computes too, so that
// no second set of them waits beside. What is computed of an element does not depend on how many
// there are.
#pragma once

#include <cstddef>

namespace sterna::nets {

class Team {
 public:
  /// So many at most; at least 1.
  explicit Team(int threads) : size_(static_cast<std::size_t>(threads)) {}
  std::size_t size() const { return size_; }

  /// work(first, end, member) for ranges that together are [0, count), each by another member
  /// (below size()), side by side; where two would not have kLeastBytes each, by the caller alone.
  /// (All or one: of a smaller team OpenMP ends the threads that it does not need, and starts them
  /// again for the next.) Each of `count` takes about as long as to read and write so many bytes.
  /// `work` must not throw.
  template <class Work>
  void share(std::size_t count, std::size_t bytes, const Work& work) const {
    const auto part = [](const void* context, std::size_t first, std::size_t end,
                         std::size_t member) {
      (*static_cast<const Work*>(context))(first, end, member);
    };
    run(count, members_for(count, bytes), part, &work);
  }
  /// The same of single elements, of which no two members have one within a line of the cache:
  /// work(first, count).
  template <class Work>
  void share_elements(std::size_t count, std::size_t bytes, const Work& work) const {
    share((count + kLine - 1) / kLine, bytes * kLine,
          [&](std::size_t first, std::size_t end, std::size_t /*member*/) {
            const std::size_t from = first * kLine;
            work(from, (end * kLine < count ? end * kLine : count) - from);
          });
  }

 private:
  using Part = void (*)(const void* context, std::size_t first, std::size_t end,
                        std::size_t member);
  static constexpr std::size_t kLine = 64;  // elements
  /// To wake a thread takes as long as to go through so many in the cache.
  static constexpr std::size_t kLeastBytes = std::size_t{1} << 18U;

  std::size_t members_for(std::size_t count, std::size_t bytes) const;
  static void run(std::size_t count, std::size_t members, Part part, const void* context);

  std::size_t size_;
};

}  // namespace sterna::nets
