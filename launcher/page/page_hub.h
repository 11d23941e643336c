// PageHub: what all open pages of a run are told, in order, as server-sent events
// (html.spec.whatwg.org, 9.2), and a stream for each of them.
//
// The last events are kept once for all. A page that reads too slowly for them is told to ask for
// everything again: it costs nothing but that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "launcher/http/http_server.h"

namespace sterna::launcher {

class PageHub : public std::enable_shared_from_this<PageHub> {
 public:
  static constexpr std::size_t kMostPages = 100;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;  ///< but always the last event

  /// `data` is one line. From any thread.
  void push(std::string_view event, std::string_view data);
  /// What keeps a stream open, and finds out that nobody reads it any more.
  void push_comment();
  /// Streams end behind what was pushed so far.
  void close();

  /// The number of the last event; 0: there was none.
  std::uint64_t last() const;
  /// Of what follows the event `after`; null: kMostPages are open.
  std::unique_ptr<HttpStream> open(std::uint64_t after);
  std::size_t pages() const;

 private:
  class Stream;
  struct Event {
    std::uint64_t number;
    std::shared_ptr<const std::string> text;
  };
  void keep(std::uint64_t number, std::string text);

  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;
  std::uint64_t last_ = 0;
  std::size_t pages_ = 0;
  bool closed_ = false;
};

}  // namespace sterna::launcher
