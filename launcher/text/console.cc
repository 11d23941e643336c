#include "launcher/text/console.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace sterna::launcher {

void Console::say(std::string_view line) const {
  std::fprintf(err, "%.*s\n", static_cast<int>(line.size()), line.data());
}

Printed Console::print_result(std::string_view lines) const {
  const bool written = std::fwrite(lines.data(), 1, lines.size(), out) == lines.size();
  return printed(written && std::fflush(out) == 0 ? 0 : errno);
}

Printed Console::printed(int failed) const {
  if (failed == 0) return Printed::written;
  if (failed == EPIPE) return Printed::unread;
  const char* why = failed == EBADF ? "it is closed" : std::strerror(failed);
  say(std::string("cannot write to standard output: ") + why);
  return Printed::failed;
}

bool Console::is_read() const {
  pollfd looked_at{fileno(out), 0, 0};
  return ::poll(&looked_at, 1, 0) <= 0 || (looked_at.revents & (POLLERR | POLLHUP)) == 0;
}

int Console::result(std::string_view lines) const { return exit_of(print_result(lines)); }

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
