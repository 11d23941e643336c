#include "launcher/page/page_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace sterna::launcher {

/// One page's. Its own members are the server thread's alone.
class PageHub::Stream final : public HttpStream {
 public:
  Stream(std::shared_ptr<PageHub> hub, std::uint64_t after) : hub_(std::move(hub)), at_(after) {}
  ~Stream() override {
    const std::lock_guard lock(hub_->mutex_);
    --hub_->pages_;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::optional<std::size_t> read(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size()) {
      if (sent_ == text_->size()) {
        const std::optional<bool> more = next();
        if (!more) return filled > 0 ? std::optional(filled) : std::nullopt;
        if (!*more) break;
      }
      const std::size_t part = std::min(into.size() - filled, text_->size() - sent_);
      std::copy_n(text_->data() + sent_, part, into.data() + filled);
      sent_ += part;
      filled += part;
    }
    return filled;
  }

 private:
  /// Whether there is another event; nothing: there will be none.
  std::optional<bool> next() {
    const std::lock_guard lock(hub_->mutex_);
    const auto event = std::ranges::upper_bound(hub_->events_, at_, {}, &Event::number);
    if (event == hub_->events_.end()) {
      return hub_->closed_ ? std::optional<bool>() : std::optional(false);
    }
    sent_ = 0;
    if (event->number != at_ + 1) {  // those between are not kept any more
      at_ = hub_->last_;
      text_ = std::make_shared<const std::string>(
          fmt::format("id: {}\nevent: again\ndata: 0\n\n", at_));
      return true;
    }
    at_ = event->number;
    text_ = event->text;
    return true;
  }

  std::shared_ptr<PageHub> hub_;
  std::uint64_t at_;  ///< the last event that was begun
  /// After a second a browser may ask again.
  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>("retry: 1000\n\n");
  std::size_t sent_ = 0;
};

void PageHub::keep(std::uint64_t number, std::string text) {
  bytes_ += text.size();
  events_.push_back({number, std::make_shared<const std::string>(std::move(text))});
  while (bytes_ > kMostBytes && events_.size() > 1) {
    bytes_ -= events_.front().text->size();
    events_.pop_front();
  }
}

void PageHub::push(std::string_view event, std::string_view data) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  const std::uint64_t number = ++last_;
  keep(number, fmt::format("id: {}\nevent: {}\ndata: {}\n\n", number, event, data));
}

void PageHub::push_comment() {
  const std::lock_guard lock(mutex_);
  if (!closed_) keep(++last_, ":\n\n");
}

void PageHub::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

std::uint64_t PageHub::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::unique_ptr<HttpStream> PageHub::open(std::uint64_t after) {
  const std::lock_guard lock(mutex_);
  if (pages_ >= kMostPages) return nullptr;
  ++pages_;
  // Of a server that was there before this one it may know more.
  return std::make_unique<Stream>(shared_from_this(), std::min(after, last_));
}

std::size_t PageHub::pages() const {
  const std::lock_guard lock(mutex_);
  return pages_;
}

}  // namespace sterna::launcher
