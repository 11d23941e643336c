// PageFeed: what the pages of one run are told: its status as it is given here, and what its
// directory gains, read by a thread of its own. Who gives it something never waits for a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/http/http_server.h"
#include "launcher/view/run_status.h"

namespace sterna::launcher {

class PageFeed {
 public:
  /// So much of logs is kept for a page that opens later.
  static constexpr std::size_t kMostLogLines = 1000;
  static constexpr std::size_t kLongestLogLine = 2000;

  explicit PageFeed(std::string run_directory);
  ~PageFeed();
  PageFeed(const PageFeed&) = delete;
  PageFeed& operator=(const PageFeed&) = delete;

  /// What is called, on any thread, where streams may have something; null: nothing, from the
  /// return of this call on.
  void set_wake(std::function<void()> wake);

  void update(const RunStatus& status);
  void log(const std::string& actor, const std::vector<std::string>& lines);
  void end(const RunStatus& status, int exit, std::string_view words);
  /// Streams end behind what the directory holds now; a disk that hangs is not waited for.
  void close();

  // On the server's thread:
  /// {"last": number of the last event that it holds, "status", "story", "log": [[actor, line]…],
  /// "end": {"exit", "words"} or null}
  std::string facts() const;
  /// Events "status", "story" (RunStory::news()), "log", "end" and "again" (what was told before
  /// does not hold any more), as facts() has them; null: there are too many pages.
  std::unique_ptr<HttpStream> open(std::uint64_t after) const;
  bool is_full() const;
  /// Of "runs", "resolved", or "run " and a directory that "runs" has; nothing: not yet, ask again.
  std::optional<std::string> shelf(const std::string& name) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sterna::launcher
