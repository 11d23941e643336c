#include "runtime/actor/waiting_handlers.h"

#include <utility>

namespace sterna {

void WaitingHandlers::add(Handler& handler) {
  if (handler.question_.correlation == 0) return;
  if (size_ == buckets_.size()) grow();
  push(buckets_[bucket_of(handler.question_)], handler);
  ++size_;
}

void WaitingHandlers::remove(Handler& handler) {
  if (handler.at_ == nullptr) return;
  if (handler.next_ != nullptr) handler.next_->at_ = handler.at_;
  *handler.at_ = handler.next_;
  handler.at_ = nullptr;
  --size_;
}

WaitingHandlers::Handler* WaitingHandlers::find(const Question& question) const {
  Handler* handler = buckets_[bucket_of(question)];
  while (handler != nullptr && handler->question_ != question) handler = handler->next_;
  return handler;
}

std::size_t WaitingHandlers::bucket_of(const Question& question) const {
  // The low half of a number is a place in the asker's table, the high half counts its uses.
  std::uint64_t hash = question.correlation ^ (question.asker.value * 0x9E3779B97F4A7C15ULL);
  hash *= 0xD6E8FEB86659FD93ULL;
  return static_cast<std::size_t>(hash >> 32U) & (buckets_.size() - 1);
}

void WaitingHandlers::push(Handler*& bucket, Handler& handler) {
  handler.next_ = bucket;
  handler.at_ = &bucket;
  if (bucket != nullptr) bucket->at_ = &handler.next_;
  bucket = &handler;
}

void WaitingHandlers::grow() {
  const std::vector<Handler*> before =
      std::exchange(buckets_, std::vector<Handler*>(2 * buckets_.size()));
  for (Handler* each : before) {
    // The oldest first, so that the last one added is found first again.
    Handler* oldest_first = nullptr;
    while (each != nullptr) {
      Handler* next = std::exchange(each->next_, oldest_first);
      oldest_first = std::exchange(each, next);
    }
    while (oldest_first != nullptr) {
      Handler& handler = *oldest_first;
      oldest_first = handler.next_;
      push(buckets_[bucket_of(handler.question_)], handler);
    }
  }
}

}  // namespace sterna
