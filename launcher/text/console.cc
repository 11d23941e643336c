#include "launcher/text/console.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "launcher/text/text_format.h"

namespace sterna::launcher {

void Console::say(std::string_view line) const {
  const std::string text = printable_lines(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), err);
}

Printed Console::print_result(std::string_view lines) const {
  const std::string text = printable_lines(lines);
  const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
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
