// What ends a connection before it is one.
#pragma once

#include <string_view>

namespace sterna {

/// How the cause ends where a handshake failed: the peer ended in the middle of it, or it has
/// another key than we know.
constexpr std::string_view kHandshakeFailed = "failed (it ended meanwhile, or its key is another)";

}  // namespace sterna
