#include "tests/cluster/attack/targets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <sstream>

namespace sterna::test {

namespace {

std::optional<std::uint16_t> parse_port(const std::string& text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stop != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<std::vector<Target>> parse_targets(const std::string& text) {
  std::vector<Target> targets;
  const std::size_t colon = text.find(':');
  const std::string address = text.substr(0, colon);
  in_addr parsed = {};
  if (colon == std::string::npos) return std::nullopt;
  if (::inet_pton(AF_INET, address.c_str(), &parsed) != 1) return std::nullopt;
  std::istringstream ranges(text.substr(colon + 1));
  for (std::string range; std::getline(ranges, range, ',');) {
    const std::size_t dash = range.find('-');
    const auto first = parse_port(range.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_port(range.substr(dash + 1));
    if (!first || !last || *first > *last) return std::nullopt;
    for (unsigned port = *first; port <= *last; ++port) {
      targets.push_back({address, static_cast<std::uint16_t>(port)});
    }
  }
  if (targets.empty()) return std::nullopt;
  return targets;
}

int connect_to(const Target& target) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(target.port);
  ::inet_pton(AF_INET, target.address.c_str(), &address.sin_addr);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno == EINPROGRESS) {
    return socket;
  }
  ::close(socket);
  return -1;
}

int connect_error(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace sterna::test
