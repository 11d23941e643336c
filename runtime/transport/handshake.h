// What ends a connection before it is one.
#pragma once

#include <string_view>

namespace sterna {

/// How the cause ends where a handshake failed: the peer has another key than we know, or it ended
/// in the middle of it.
constexpr std::string_view kHandshakeFailed = "failed (is its key another?)";

}  // namespace sterna
