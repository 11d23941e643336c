#include "launcher/hosts/host_plan.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "kernels/device/library.h"
#include "launcher/hosts/placer.h"

namespace sterna::launcher {
namespace {

constexpr const char* kThisMachine = "localhost";

/// The address of this machine's from which packets to `address` leave: where its processes can be
/// reached from there. Nothing is sent.
Result<std::string> address_towards(const std::string& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(address.c_str(), "9", &hints, &found); code != 0) {
    return Error{Errc::not_found,
                 fmt::format("nobody knows the address {}: {}", address, ::gai_strerror(code))};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const int socket = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return system_error("socket", errno);
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  const bool done = ::connect(socket, found->ai_addr, found->ai_addrlen) == 0 &&
                    ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0;
  const int error = errno;
  ::close(socket);
  if (!done) return system_error("no way to " + address, error);
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return Error{Errc::not_found, "this machine has no address towards " + address};
  }
  return std::string(text.data());
}

}  // namespace

std::vector<std::string> environment_of(const HostSection& host) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : host.env) variables.push_back(fmt::format("{}={}", name, value));
  if (!host.cuda.empty()) {
    variables.push_back(fmt::format("{}={}", kernels::kLibraryFolders, fmt::join(host.cuda, ":")));
  }
  return variables;
}

bool is_remote(const ClusterFile& file, const HostSection& host) {
  const PlacerTraits& placer = file.cluster.placing();
  return placer.others == OtherMachines::kAllButHead ? host.name != file.cluster.head
                                                     : placer.reached_by_ssh(host);
}

bool has_remote_hosts(const ClusterFile& file) {
  return std::any_of(file.hosts.begin(), file.hosts.end(),
                     [&](const HostSection& host) { return is_remote(file, host); });
}

const HostSection* head_of(const ClusterFile& file) {
  const auto found =
      std::find_if(file.hosts.begin(), file.hosts.end(),
                   [&](const HostSection& host) { return host.name == file.cluster.head; });
  return found == file.hosts.end() ? nullptr : &*found;
}

bool head_is_remote(const ClusterFile& file) {
  const HostSection* head = head_of(file);
  return head != nullptr && is_remote(file, *head);
}

std::string remote_folder(const HostSection& host, const std::string& run_id) {
  return host.work + "/runs/" + run_id;
}

Result<ClusterOptions> cluster_options_of(const ClusterFile& file, const std::string& log_directory,
                                          const std::string& run_id) {
  ClusterOptions options;
  options.run_name = file.cluster.name;
  options.network.tcp = has_remote_hosts(file) || file.cluster.transport != "ipc";
  options.network.near = file.cluster.transport != "tcp";
  options.network.curve = file.cluster.security == "curve";
  if (file.cluster.ports) {
    options.network.port_low = file.cluster.ports->low;
    options.network.port_high = file.cluster.ports->high;
  }
  options.heartbeat = file.cluster.heartbeat;
  options.silence = file.cluster.silence;
  options.link_patience = file.cluster.link_patience;
  options.slow_link = file.cluster.slow_link.count;
  options.grace = file.cluster.grace;
  options.lease = file.cluster.lease;
  options.coordinator_restarts.times =
      static_cast<std::uint32_t>(file.cluster.coordinator_restarts);
  options.start_deadline = file.deadlines.start;
  options.log_directory = log_directory;

  const HostSection* head = head_of(file);
  options.head = head == nullptr ? kThisMachine : head->name;
  if (head != nullptr) {
    options.network.bind_address = head->bind;
    options.network.address = head->address;
  } else if (options.network.tcp) {
    STERNA_ASSIGN(options.network.bind_address, address_towards(file.hosts.front().address));
  }
  for (const HostSection& host : file.hosts) {
    HostOptions& one = options.hosts.emplace_back();
    one.name = host.name;
    one.environment = environment_of(host);
    one.spare = host.spare;
    if (!options.network.tcp) continue;  // as the head's
    one.network = options.network;
    one.network.bind_address = host.bind;
    one.network.address = host.address;
    const bool elsewhere = is_remote(file, host) && &host != head;
    one.log_directory = elsewhere ? remote_folder(host, run_id) : log_directory;
  }
  return options;
}

RemotePlacerOptions placer_options_of(const ClusterFile& file, RemoteBundle bundle,
                                      std::function<void(std::string_view)> progress) {
  RemotePlacerOptions options;
  options.bundle = std::move(bundle);
  options.patience = file.deadlines.host;
  options.progress = std::move(progress);
  for (const HostSection& host : file.hosts) {
    if (!is_remote(file, host)) continue;
    const auto way = placer_of(file).way_to(file, host);
    if (!way) continue;
    options.hosts[host.name] = *way;
    options.hosts[host.name].later = host.spare;
  }
  return options;
}

}  // namespace sterna::launcher
