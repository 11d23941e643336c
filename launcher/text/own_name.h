// A name of its own for what a run makes beside what others made.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <functional>
#include <string>

#include "runtime/base/result.h"

namespace sterna::launcher {

/// Makes the first of BASE, BASE JOIN 2, BASE JOIN 3, … that is not there; its path. make(path)
/// must make it itself, so that of two who ask at once each has one: whether it did; else errno
/// says why, EEXIST that it is there. `what`: how its errors call it.
inline Result<std::string> make_own_name(const std::string& base, const char* join,
                                         const char* what,
                                         const std::function<bool(const std::string& path)>& make) {
  constexpr int kMostInOneSecond = 1000;
  for (int n = 1; n <= kMostInOneSecond; ++n) {
    std::string path = n == 1 ? base : fmt::format("{}{}{}", base, join, n);
    if (make(path)) return path;
    if (errno != EEXIST) return system_error(fmt::format("cannot create {}{}", what, path), errno);
  }
  return Error{Errc::already_exists, base + " and its successors exist; wait a second"};
}

}  // namespace sterna::launcher
