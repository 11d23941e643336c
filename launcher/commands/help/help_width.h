// How wide help may be: what $COLUMNS says, else the terminal that it goes to.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string>

#include "launcher/text/environment.h"
#include "launcher/view/live_view.h"

namespace sterna::launcher {

/// Files and pipes get lines of any length, unless $COLUMNS is set.
inline std::size_t help_width(std::FILE* out) {
  constexpr std::size_t kLeast = 30;
  const std::string said = environment("COLUMNS").value_or("");
  std::size_t width = 0;
  std::from_chars(said.data(), said.data() + said.size(), width);
  if (width == 0 && isatty(fileno(out)) == 0) return std::numeric_limits<std::size_t>::max();
  return std::max(width > 0 ? width : terminal_options(fileno(out)).width, kLeast);
}

}  // namespace sterna::launcher
