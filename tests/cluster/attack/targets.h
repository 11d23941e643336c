// What an attack is aimed at: addresses with ports, and sockets that connect to them without
// waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sterna::test {

struct Target {
  std::string address;  ///< IPv4, in dots
  std::uint16_t port = 0;
};

/// "ADDRESS:PORTS", where PORTS is like 7000-7009,7100; nothing where the text is none of that.
std::optional<std::vector<Target>> parse_targets(const std::string& text);

/// A socket on its way to the target; -1 where the system has none left, or refused at once.
int connect_to(const Target& target);
/// 0 once a socket of `connect_to` is connected, otherwise the error that it ended with.
int connect_error(int socket);

}  // namespace sterna::test
