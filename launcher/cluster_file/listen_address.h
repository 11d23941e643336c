// An address to listen on, as a cluster file has it: "127.0.0.1:9100", "[::1]:9100".
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "runtime/base/result.h"

namespace sterna::launcher {

struct ListenAddress {
  sockaddr_storage address{};
  /// Errors: invalid_argument, in words that go on after the key's name.
  static Result<ListenAddress> parse(std::string_view text);
};

}  // namespace sterna::launcher
