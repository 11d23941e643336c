// WaitingHandlers: the handlers that are not through yet, by the questions that they answer, so
// that the end of a question ends its handler however many others wait.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/ids.h"

namespace sterna {

/// Owns none of them. Linked through themselves, so that no question costs an allocation.
class WaitingHandlers {
 public:
  /// A question as its asker numbers it, across all its actors; 0: there is none.
  struct Question {
    ProcessId asker;
    std::uint64_t correlation = 0;
    friend bool operator==(const Question&, const Question&) = default;
  };
  class Handler {
   protected:
    explicit Handler(const Question& question) : question_(question) {}
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    ~Handler() = default;

   private:
    friend class WaitingHandlers;
    const Question question_;
    Handler* next_ = nullptr;  // in its bucket
    Handler** at_ = nullptr;   // what points at it; null: it is in no bucket
  };

  WaitingHandlers() : buckets_(kFewest) {}
  /// Nothing where there is no question.
  void add(Handler& handler);
  void remove(Handler& handler);
  /// The last one added of those that answer it; null: there is none.
  Handler* find(const Question& question) const;
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kFewest = 16;
  std::size_t bucket_of(const Question& question) const;
  static void push(Handler*& bucket, Handler& handler);
  void grow();

  std::vector<Handler*> buckets_;  // a power of two of them, and no fewer than handlers
  std::size_t size_ = 0;
};

}  // namespace sterna
