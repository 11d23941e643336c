// The hosts of a cluster file: their addresses, and what cannot work between them.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "launcher/cluster_file/draft.h"
#include "launcher/text/machine_name.h"
#include "runtime/remote/remote_script.h"

namespace sterna::launcher {
namespace {

/// The bytes of an IPv4 or IPv6 address, or "" for anything else.
std::string address_bytes(const std::string& address) {
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
  return "";
}

bool is_this_machine(const std::string& address) {
  if (address == "localhost") return true;
  if (!address.empty() && address == machine_name()) return true;
  const std::string wanted = address_bytes(address);
  if (wanted.empty()) return false;
  if (wanted.size() == 4 && wanted[0] == 127) return true;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  bool found = false;
  for (const ifaddrs* entry = list; entry && !found; entry = entry->ifa_next) {
    if (!entry->ifa_addr) continue;
    if (entry->ifa_addr->sa_family == AF_INET && wanted.size() == 4) {
      const auto* ip = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
      found = std::memcmp(&ip->sin_addr, wanted.data(), 4) == 0;
    } else if (entry->ifa_addr->sa_family == AF_INET6 && wanted.size() == 16) {
      const auto* ip = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      found = std::memcmp(&ip->sin6_addr, wanted.data(), 16) == 0;
    }
  }
  freeifaddrs(list);
  return found;
}

/// Something that stands for all addresses of a machine.
bool is_every_address(const std::string& address) {
  const std::string bytes = address_bytes(address);
  return address == "*" ||
         (!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) { return c == 0; }));
}

bool has_blank(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c <= ' ' || c == 0x7F; });
}

/// The host of "host", "user@host", "ssh://user@host:port".
std::string host_of(const std::string& ssh) {
  std::string host = ssh.starts_with("ssh://") ? ssh.substr(6, ssh.find('/', 6) - 6) : ssh;
  if (const auto at = host.rfind('@'); at != std::string::npos) host.erase(0, at + 1);
  if (!ssh.starts_with("ssh://")) return host;
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

class HostPlanner {
 public:
  HostPlanner(const Draft& draft, Problems& problems)
      : draft_(draft), problems_(problems), placer_(draft.cluster.placing()) {}

  std::vector<HostSection> plan() && {
    if (placer_.brings_hosts) {
      if (!draft_.hosts.empty()) {
        complain(0, "",
                 fmt::format("with placer = \"{}\" the hosts are those of its allocation; remove "
                             "the [[host]] tables",
                             placer_.name));
      }
      return {};
    }
    for (std::size_t i = 0; i < draft_.hosts.size(); ++i) {
      HostSection host = draft_.hosts[i];
      if (host.address.empty())
        host.address = names_another(host) ? host_of(host.ssh) : "127.0.0.1";
      if (host.bind.empty()) host.bind = host.address;
      check_twins(i, host);
      check_ssh(i, host);
      check_addresses(i, host);
      check_folders(i, host);
      hosts_.push_back(std::move(host));
    }
    return std::move(hosts_);
  }

 private:
  /// Whether `ssh` says where this host is, be it used or not.
  bool names_another(const HostSection& host) const {
    return placer_.others != OtherMachines::kNone && !host.ssh.empty();
  }

  void check_twins(std::size_t index, const HostSection& host) {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i].name == host.name) {
        const Where there = draft_.where(fmt::format("host.{}.name", i));
        return complain(index, "name",
                        fmt::format("two hosts are named \"{}\", here and at {}; give one of them "
                                    "another name",
                                    host.name, problems_.place(there)));
      }
      const bool same_machine = placer_.others == OtherMachines::kNone || hosts_[i].ssh == host.ssh;
      if (hosts_[i].address == host.address && !same_machine) {
        return complain(
            index, "address",
            fmt::format("the hosts \"{}\" and \"{}\" have the address {}; give each the one "
                        "under which the others reach it",
                        hosts_[i].name, host.name, host.address));
      }
    }
  }

  void check_ssh(std::size_t index, const HostSection& host) {
    if (!names_another(host)) return;
    if (host.ssh.starts_with("-") || has_blank(host.ssh) || host_of(host.ssh).empty()) {
      complain(index, "ssh",
               "\"host.ssh\" wants one destination of ssh, such as \"user@host\"; options belong "
               "into ~/.ssh/config");
    }
  }

  void check_addresses(std::size_t index, const HostSection& host) {
    for (const auto& [key, address] : {std::pair{"address", host.address}, {"bind", host.bind}}) {
      if (is_every_address(address)) {
        return complain(
            index, key,
            fmt::format("\"{}\" would open the run's ports on every network that the host is "
                        "in; name the one address that the other hosts reach",
                        address));
      }
      if (has_blank(address)) {
        return complain(index, key,
                        fmt::format("\"{}\" is neither an address nor a name", address));
      }
      const bool elsewhere =
          placer_.others == OtherMachines::kAllButHead || placer_.reached_by_ssh(host);
      if (elsewhere || is_this_machine(address)) continue;
      return complain(
          index, key,
          fmt::format(
              "\"{}\" is not an address of this machine; {}", address,
              placer_.others == OtherMachines::kNone
                  ? fmt::format("with placer = \"{}\" every host is emulated here", placer_.name)
                  : "give the host its ssh, e.g. ssh = \"user@host\""));
    }
  }

  /// Nobody knows from which folder a relative path would be meant on another machine.
  void check_folders(std::size_t index, const HostSection& host) {
    for (const auto& [key, folder] : {std::pair{"data", host.data}, {"work", host.work}}) {
      const bool good = folder.starts_with('/') || folder == "~" || folder.starts_with("~/");
      if (good || (folder.empty() && key == std::string_view("data"))) continue;
      complain(index, key,
               fmt::format("\"host.{}\" wants a path that begins with / or ~/, not \"{}\"", key,
                           folder));
    }
    if (!plain_for_shell(host.work)) {
      complain(index, "work",
               fmt::format("\"host.work\" is read by the host\'s shell, which would take {} for "
                           "something else: use letters, digits and / . _ - + , @ ~",
                           toml_quoted(host.work)));
    }
    for (const std::string& folder : host.cuda) {  // of a list with colons, which no shell reads
      if (folder.starts_with('/') && folder.find(':') == std::string::npos) continue;
      complain(index, "cuda",
               fmt::format("\"host.cuda\" wants folders whose paths begin with / and hold no "
                           "colon, not \"{}\"",
                           folder));
    }
  }

  void complain(std::size_t index, std::string_view key, const std::string& message) {
    problems_.add(draft_.where(fmt::format("host.{}.{}", index, key)), message);
  }

  const Draft& draft_;
  Problems& problems_;
  const PlacerTraits& placer_;
  std::vector<HostSection> hosts_;
};

}  // namespace

std::vector<HostSection> plan_hosts(const Draft& draft, Problems& problems) {
  return HostPlanner(draft, problems).plan();
}

void check_ports(const Draft& draft, const ClusterFile& file, Problems& problems) {
  const std::optional<PortRange>& ports = file.cluster.ports;
  if (!ports || !file.talks_tcp() || !file.placed()) return;
  struct Group {
    std::string hosts;
    std::int64_t processes = 0;
  };
  std::map<std::string, Group> groups;  // hosts that share an address to bind
  for (const HostSection& host : file.hosts) {
    const bool remote = file.cluster.placing().reached_by_ssh(host);
    Group& group = groups[(remote ? host.ssh : "") + ' ' + host.bind];
    group.hosts += fmt::format("{}\"{}\"", group.hosts.empty() ? "" : ", ", host.name);
    group.processes += processes_on(file, host);
  }
  const std::int64_t available = ports->high - ports->low + 1;
  for (const auto& [where, group] : groups) {
    const std::int64_t needed = group.processes * kPortsPerProcess;
    if (needed <= available) continue;
    problems.add(draft.where("cluster.ports"),
                 fmt::format("{} ports are too few for the {} processes on {}; they need {}",
                             available, group.processes, group.hosts, needed));
  }
}

}  // namespace sterna::launcher
