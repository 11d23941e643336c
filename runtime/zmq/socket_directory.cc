#include "runtime/zmq/socket_directory.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

namespace sterna {

std::string socket_directory_base() {
  // Leaves room for names of some 30 letters.
  constexpr std::size_t kLongest = 24;
  const char* told = std::getenv("TMPDIR");
  const std::string base = told == nullptr ? "" : told;
  return base.empty() || base.size() > kLongest ? "/tmp" : base;
}

Result<std::string> make_socket_directory(std::string_view label) {
  std::string path =
      fmt::format("{}/{}{}XXXXXX", socket_directory_base(), kSocketDirectoryPrefix, label);
  if (::mkdtemp(path.data()) == nullptr) {  // mode 0700
    return system_error("cannot make a directory for sockets, " + path, errno);
  }
  return path;
}

}  // namespace sterna
