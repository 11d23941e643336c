#include "launcher/text/console.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace sterna::launcher {

void say(std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

bool print_result(std::string_view lines) {
  const bool written = std::fwrite(lines.data(), 1, lines.size(), stdout) == lines.size();
  if (written && std::fflush(stdout) == 0) return true;
  say(std::string("cannot write to standard output: ") + std::strerror(errno));
  return false;
}

int report(const Error& error) {
  say(error.message);
  switch (error.code) {
    case Errc::invalid_argument:
    case Errc::not_found:
    case Errc::already_exists:
    case Errc::permission:
    case Errc::malformed:
      return exit_bad_input;
    default:
      return exit_failed;
  }
}

}  // namespace sterna::launcher
