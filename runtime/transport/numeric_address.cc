#include "runtime/transport/numeric_address.h"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <memory>

namespace sterna {

Result<std::string> numeric_address(const std::string& name) {
  if (name.starts_with('[') && name.ends_with(']')) return name.substr(1, name.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &found); code != 0) {
    return Error{Errc::not_found,
                 "this host does not know the address " + name + ": " + ::gai_strerror(code)};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const addrinfo* chosen = found;
  for (const addrinfo* one = found; one != nullptr && chosen->ai_family != AF_INET;
       one = one->ai_next) {
    if (one->ai_family == AF_INET) chosen = one;
  }
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(chosen->ai_addr, chosen->ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return Error{Errc::not_found, "the address " + name + " has no numbers"};
  }
  return std::string(text.data());
}

}  // namespace sterna
