// What a command says: its result, everything else, and its exit code, on streams that are given to
// it.
#pragma once

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

struct Console {
  std::FILE* out = stdout;  ///< what was asked for
  std::FILE* err = stderr;  ///< all that is said beside it

  /// One line beside the result. That it cannot be written changes nothing.
  void say(std::string_view line) const;
  /// What was asked for. False, after saying so, if who reads on cannot get it (a full disk).
  bool print_result(std::string_view lines) const;
  /// The same, and the exit code.
  int result(std::string_view lines) const;
  /// Says the error, as it is, and gives the exit code of its kind: 2 where the input is at fault
  /// (invalid_argument, not_found, already_exists, permission, malformed), else 1.
  int report(const Error& error) const;
};

}  // namespace sterna::launcher
