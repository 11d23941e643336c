#include "launcher/text/console.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace sterna::launcher {

void Console::say(std::string_view line) const {
  std::fprintf(err, "%.*s\n", static_cast<int>(line.size()), line.data());
}

bool Console::print_result(std::string_view lines) const {
  const bool written = std::fwrite(lines.data(), 1, lines.size(), out) == lines.size();
  if (written && std::fflush(out) == 0) return true;
  if (errno == EPIPE) return true;  // `| head`: whoever reads has seen enough
  const char* why = errno == EBADF ? "it is closed" : std::strerror(errno);
  say(std::string("cannot write to standard output: ") + why);
  return false;
}

int Console::result(std::string_view lines) const {
  return print_result(lines) ? kExitDone : kExitFailed;
}

int Console::report(const Error& error) const {
  say(error.message);
  switch (error.code) {
    case Errc::invalid_argument:
    case Errc::not_found:
    case Errc::already_exists:
    case Errc::permission:
    case Errc::malformed:
      return kExitBadInput;
    default:
      return kExitFailed;
  }
}

}  // namespace sterna::launcher
