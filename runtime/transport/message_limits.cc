#include "runtime/transport/message_limits.h"

#include <fmt/format.h>

#include <utility>

namespace sterna {

Result<void> check_message(std::span<const OutFrame> frames, std::int64_t max_frame_bytes) {
  if (frames.empty() || frames.size() > kMostFrames) {
    return Error{Errc::invalid_argument, fmt::format("a message of {} frames", frames.size())};
  }
  const std::int64_t most = max_frame_bytes - kFrameOverhead;
  for (const OutFrame& frame : frames) {
    if (std::cmp_less_equal(frame.view.size(), most)) continue;
    return Error{
        Errc::invalid_argument,
        fmt::format("a frame of {} bytes, where {} may be sent at most", frame.view.size(), most)};
  }
  return {};
}

}  // namespace sterna
