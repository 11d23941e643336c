#include "launcher/cluster_file/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <charconv>

namespace sterna::launcher {

Result<ListenAddress> ListenAddress::parse(std::string_view text) {
  const Error wrong{Errc::invalid_argument,
                    fmt::format("must be an address and a port, e.g. \"127.0.0.1:9100\" or "
                                "\"[::1]:9100\", not \"{}\"",
                                text)};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong;
  std::uint16_t port = 0;
  const std::string_view digits = text.substr(colon + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return wrong;
  std::string host(text.substr(0, colon));
  ListenAddress result;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    auto& address = reinterpret_cast<sockaddr_in6&>(result.address);
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    if (::inet_pton(AF_INET6, host.c_str(), &address.sin6_addr) != 1) return wrong;
    return result;
  }
  auto& address = reinterpret_cast<sockaddr_in&>(result.address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return wrong;
  return result;
}

}  // namespace sterna::launcher
