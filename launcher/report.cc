#include <cstdio>

#include "launcher/commands.h"

namespace sterna::launcher {

int report(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
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
