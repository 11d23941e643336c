#include "runtime/host/own_connections.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace sterna {
namespace {

std::vector<int> open_descriptors() {
  std::vector<int> descriptors;
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (descriptor >= 0) descriptors.push_back(descriptor);
  }
  return descriptors;
}

/// Whether an end of it has a name that others find it by.
bool has_address(const sockaddr_storage& address, socklen_t size) {
  if (address.ss_family == AF_INET || address.ss_family == AF_INET6) return true;
  return address.ss_family == AF_UNIX && size > sizeof(sa_family_t);
}

bool is_connection(int descriptor) {
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof(peer);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) return false;
  sockaddr_storage own{};
  socklen_t own_size = sizeof(own);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &own_size) != 0) return false;
  return has_address(peer, peer_size) || has_address(own, own_size);
}

}  // namespace

std::size_t shut_own_connections() {
  std::size_t shut = 0;
  for (const int descriptor : open_descriptors()) {
    if (is_connection(descriptor) && shutdown(descriptor, SHUT_RDWR) == 0) ++shut;
  }
  return shut;
}

}  // namespace sterna
