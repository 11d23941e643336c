// Where a library of C jumps back to when it fails. Its errors end in a longjmp, which runs no
// destructor: what it may jump out of is one plain function, a step, and all state is owned by who
// called trapped().
#pragma once

#include <array>
#include <csetjmp>
#include <string_view>

namespace sterna::input {

struct Trap {
  std::jmp_buf back{};
  std::array<char, 256> message{};  ///< why the last step failed

  /// Ends the step with this reason, of which the first 255 characters count.
  [[noreturn]] void fail(std::string_view why) {
    message[why.copy(message.data(), message.size() - 1)] = '\0';
    std::longjmp(back, 1);
  }
};

/// Calls step(state), from within which state.trap may be told to fail. False if it was. No
/// variable of `step` may have a destructor.
template <class State>
[[gnu::noinline]] bool trapped(State& state, void (*step)(State&)) {
  if (setjmp(state.trap.back) != 0) return false;
  step(state);
  return true;
}

}  // namespace sterna::input
