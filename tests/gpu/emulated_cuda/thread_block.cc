#include "thread_block.h"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include "runtime/base/random.h"

namespace sterna {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::size_t kStack = 64 << 10;

/// Where threads meet: whoever comes last lets all go on.
struct Meeting {
  std::uint32_t size = 0;
  std::uint32_t here = 0;
  std::uint64_t times = 0;
};

struct Warp {
  Meeting meeting;
  std::array<std::array<std::uint64_t, kLanes>, 2> brought{};
};

struct Fiber {
  ucontext_t context{};  ///< where it begins
  jmp_buf place{};       ///< where it waits; a switch by ucontext alone is two system calls
  bool begun = false;
  std::vector<char> stack = std::vector<char>(kStack);
  bool done = false;
};

/// The one emulation of this process; its threads are fibers of one thread.
struct Emulation {
  SeededRandom random{1};
  jmp_buf scheduler{};
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Warp> warps;
  Meeting block;
  const std::function<void()>* body = nullptr;
  ThreadIndex thread;
  ThreadIndex block_index;
  bool progressed = false;
};

Emulation& emulation() {
  static Emulation one;
  return one;
}

void yield() {
  Emulation& all = emulation();
  Fiber& own = *all.fibers[all.thread.x];
  if (_setjmp(own.place) == 0) _longjmp(all.scheduler, 1);
}

/// Lets a fiber run until it yields.
[[gnu::noinline]] void resume(Fiber& fiber) {
  if (_setjmp(emulation().scheduler) != 0) return;
  if (fiber.begun) _longjmp(fiber.place, 1);
  fiber.begun = true;
  setcontext(&fiber.context);
}

void meet(Meeting& meeting) {
  const std::uint64_t before = meeting.times;
  if (++meeting.here == meeting.size) {
    meeting.here = 0;
    ++meeting.times;
    emulation().progressed = true;
    return;
  }
  while (meeting.times == before) yield();
}

void run_fiber() {
  (*emulation().body)();
  emulation().fibers[emulation().thread.x]->done = true;
  emulation().progressed = true;
  yield();
}

void shuffle(std::vector<std::uint32_t>& order) {
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[emulation().random.below(i)]);
  }
}

std::vector<std::uint32_t> drawn_order(std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  shuffle(order);
  return order;
}

void run_block(std::uint32_t threads) {
  Emulation& all = emulation();
  all.block = {.size = threads};
  all.warps.assign(threads / kLanes, {});
  for (Warp& warp : all.warps) warp.meeting.size = kLanes;
  while (all.fibers.size() < threads) all.fibers.push_back(std::make_unique<Fiber>());
  for (std::uint32_t t = 0; t < threads; ++t) {
    Fiber& fiber = *all.fibers[t];
    fiber.done = fiber.begun = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run_fiber, 0);
  }
  const std::vector<std::uint32_t> order = drawn_order(threads);
  std::uint32_t left = threads;
  while (left > 0) {
    all.progressed = false;
    for (const std::uint32_t t : order) {
      Fiber& fiber = *all.fibers[t];
      if (fiber.done) continue;
      all.thread.x = t;
      resume(fiber);
      if (fiber.done) --left;
    }
    if (!all.progressed) {
      std::fputs("the threads of a block wait for each other without end\n", stderr);
      std::abort();
    }
  }
}

}  // namespace

const ThreadIndex& this_thread() { return emulation().thread; }
const ThreadIndex& this_block() { return emulation().block_index; }

void run_blocks(std::uint32_t blocks, std::uint32_t threads, const std::function<void()>& body) {
  Emulation& all = emulation();
  all.body = &body;
  for (const std::uint32_t block : drawn_order(blocks)) {
    all.block_index.x = block;
    run_block(threads);
  }
}

void wait_for_block() { meet(emulation().block); }

const std::array<std::uint64_t, 32>& exchange_in_warp(std::uint64_t value) {
  Emulation& all = emulation();
  const std::uint32_t thread = all.thread.x;
  Warp& warp = all.warps[thread / kLanes];
  auto& brought = warp.brought[warp.meeting.times % 2];
  brought[thread % kLanes] = value;
  meet(warp.meeting);
  return brought;
}

}  // namespace sterna
