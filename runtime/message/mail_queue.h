// MailQueue: mail in order, linked through the mail itself, so that none of it costs an allocation.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/message/message.h"

namespace sterna {

/// Owns what it holds.
class MailQueue {
 public:
  MailQueue() = default;
  MailQueue(const MailQueue&) = delete;
  MailQueue& operator=(const MailQueue&) = delete;
  ~MailQueue() {
    while (!empty()) pop();
  }

  bool empty() const { return head_ == nullptr; }
  std::size_t size() const { return size_; }
  /// Null if it is empty.
  const Mail* front() const { return head_; }

  void push(std::unique_ptr<Mail> mail) {
    Mail* last = mail.release();
    (tail_ != nullptr ? tail_->next : head_) = last;
    tail_ = last;
    ++size_;
  }
  /// Not of an empty one.
  std::unique_ptr<Mail> pop() {
    std::unique_ptr<Mail> first(std::exchange(head_, head_->next));
    if (head_ == nullptr) tail_ = nullptr;
    --size_;
    first->next = nullptr;
    return first;
  }

 private:
  Mail* head_ = nullptr;
  Mail* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sterna
