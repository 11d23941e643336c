#include "runtime/zmq/zmq_endpoints.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "runtime/zmq/curve_keys.h"

namespace sterna {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr std::string_view kTcp = "tcp://";
constexpr std::size_t kLongestPath = 107;
/// A longer name is cut, and told from others by a hash: any that the run knows fits beside a
/// folder under TMPDIR.
constexpr std::size_t kLongestName = 32;
constexpr std::size_t kHashDigits = 16;

/// Any name as a part of a file's name, different names differently.
std::string escape(const std::string& name) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    if (plain) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kHex[byte / 16U], kHex[byte % 16U]};
    }
  }
  if (text.size() <= kLongestName) return text;
  return text.substr(0, kLongestName - kHashDigits - 1) + "~" +
         token_hash(name).substr(0, kHashDigits);
}

}  // namespace

bool is_tcp(const std::string& endpoint) { return endpoint.starts_with(kTcp); }

std::string ipc_endpoint(const std::string& directory, const PeerIdentity& peer, Lane lane) {
  return std::string(kIpc) + directory + "/" + escape(peer.name) + "." +
         std::to_string(peer.incarnation) + (lane == Lane::control ? ".control" : ".data");
}

Result<std::string> free_ipc_endpoint(const std::string& directory, const PeerIdentity& self,
                                      Lane lane) {
  struct stat status {};
  if (lstat(directory.c_str(), &status) != 0) {
    return system_error("the directory for sockets, " + directory, errno);
  }
  constexpr unsigned kOthers = 077;
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & kOthers) != 0) {
    return Error{Errc::permission, directory +
                                       " must be a directory of ours with mode 0700: who "
                                       "can enter it could talk to our actors"};
  }
  std::string endpoint = ipc_endpoint(directory, self, lane);
  const std::string path = endpoint.substr(kIpc.size());
  if (path.size() + kSpellings > kLongestPath) {
    return Error{Errc::invalid_argument, "the socket's path " + path + " has " +
                                             std::to_string(path.size()) + " bytes, at most " +
                                             std::to_string(kLongestPath - kSpellings) +
                                             " fit: use a shorter directory (TMPDIR)"};
  }
  if (access(path.c_str(), F_OK) == 0) {
    return Error{Errc::already_exists, path + " exists: is this actor running twice?"};
  }
  return endpoint;
}

std::vector<int> ports_to_try(int low, int high, std::uint64_t hash) {
  std::vector<int> ports;
  if (low <= 0 || high < low) return ports;
  const auto count = static_cast<std::uint64_t>(high - low) + 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    ports.push_back(low + static_cast<int>((hash % count + i) % count));
  }
  return ports;
}

std::string tcp_endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos && !address.starts_with('[');
  std::string endpoint(kTcp);
  endpoint += v6 ? "[" + address + "]" : address;
  endpoint += ":";
  endpoint += port == 0 ? "*" : std::to_string(port);
  return endpoint;
}

Result<std::string> spell(const std::string& endpoint, int index) {
  const auto extra = static_cast<std::size_t>(index) + 1;
  const bool tcp = is_tcp(endpoint);
  const std::size_t place = endpoint.rfind(tcp ? ':' : '/');
  if ((!tcp && !endpoint.starts_with(kIpc)) || place < kIpc.size() ||
      place + 1 == endpoint.size()) {
    return Error{Errc::invalid_argument,
                 "'" + endpoint + "' is not an endpoint: tcp://host:port or ipc://path"};
  }
  std::string spelt = endpoint;
  spelt.insert(place + 1, extra, tcp ? '0' : '/');
  return spelt;
}

std::string unspelt(const std::string& spelling) {
  const bool tcp = is_tcp(spelling);
  const char extra = tcp ? '0' : '/';
  std::string endpoint = spelling;
  const std::size_t place = endpoint.rfind(tcp ? ':' : '/');
  if (place == std::string::npos || place < kIpc.size()) return endpoint;
  if (tcp) {
    const std::size_t end = std::min(endpoint.find_first_not_of(extra, place + 1), endpoint.size());
    endpoint.erase(place + 1, end - place - 1);
  } else {
    const std::size_t begin = endpoint.find_last_not_of(extra, place) + 1;
    endpoint.erase(begin + 1, place - begin);
  }
  return endpoint;
}

}  // namespace sterna
