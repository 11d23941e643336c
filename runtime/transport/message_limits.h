// What a message may be at most, the same over every transport: what is too long for one is found
// in the simulated world.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/transport/transport.h"

namespace sterna {

/// More frames than this in one message is abuse (Cap'n Proto segments: one, plus one per blob).
constexpr std::size_t kMostFrames = 64;
/// Longest frame per lane as it travels; a longer one costs the sender its connection.
constexpr std::array<std::int64_t, kLanes> kMaxFrameBytes = {4LL << 20, 64LL << 20};
/// Of that, what encryption adds, and more.
constexpr std::int64_t kFrameOverhead = 256;

/// invalid_argument where a lane that takes frames of `max_frame_bytes` takes no such message.
Result<void> check_message(std::span<const OutFrame> frames, std::int64_t max_frame_bytes);

}  // namespace sterna
