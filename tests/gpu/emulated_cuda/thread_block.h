// Blocks of threads as a GPU runs them, on the host: a thread is a fiber, which goes on until it
// waits for its warp or its block. The order of blocks and threads is drawn, so that whoever does
// not wait for what another thread writes reads something else sooner or later.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace sterna {

struct ThreadIndex {
  std::uint32_t x = 0;
};

/// Of the fiber that runs.
const ThreadIndex& this_thread();
const ThreadIndex& this_block();

/// Runs `body` in `threads` threads of each of `blocks` blocks.
void run_blocks(std::uint32_t blocks, std::uint32_t threads, const std::function<void()>& body);

/// Waits until all threads of the block are here.
void wait_for_block();

/// Waits until all 32 of the warp are here, and returns what each has brought; it stays until the
/// second exchange after this one.
const std::array<std::uint64_t, 32>& exchange_in_warp(std::uint64_t value);

}  // namespace sterna
