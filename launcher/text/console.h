// What a command says: its result, everything else, and its exit code, on streams that are given to
// it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

constexpr int kExitDone = 0;
constexpr int kExitFailed = 1;
constexpr int kExitBadInput = 2;
/// A run was ended by what need not happen again, and goes on from a checkpoint (EX_TEMPFAIL).
constexpr int kExitGoesOn = 75;
constexpr int kExitInterrupted = 130;  ///< by Ctrl-C, or by SIGTERM without a checkpoint

/// What became of a result.
enum class Printed : std::uint8_t {
  written,
  unread,  ///< whoever read has seen enough (`| head`): who would print more ends
  failed,  ///< a full disk; it was said
};
/// Of a command that ends by that.
constexpr int exit_of(Printed printed) {
  return printed == Printed::failed ? kExitFailed : kExitDone;
}

struct Console {
  std::FILE* out = stdout;  ///< what was asked for
  std::FILE* err = stderr;  ///< all that is said beside it

  /// A line, or several, beside the result, each as printable() has it: what is said of files,
  /// classes and causes has names that others gave. That it cannot be written changes nothing.
  void say(std::string_view line) const;
  /// What was asked for, each line likewise.
  Printed print_result(std::string_view lines) const;
  /// What became of what another writes to `out`: `failed` is the errno of its last write, or 0.
  Printed printed(int failed) const;
  /// Whether somebody may still read `out`; false of a pipe, or a connection, that has no reader
  /// any more. Who prints now and then asks between: no write tells that meanwhile.
  bool is_read() const;
  /// Prints it; the exit code.
  int result(std::string_view lines) const;
  /// Says the error and gives the exit code of its kind: 2 where the input is at fault
  /// (invalid_argument, not_found, already_exists, permission, malformed), else 1.
  int report(const Error& error) const;
};

}  // namespace sterna::launcher
