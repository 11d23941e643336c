// From a Draft to a ClusterFile: defaults that depend on other keys, one plan per actor, and the
// checks that compare keys with each other.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "launcher/cluster_draft.h"
#include "launcher/duration_text.h"
#include "launcher/nearest.h"

namespace sterna::launcher {
namespace {

/// Ranks are 16 bits in the counter words of the ternary codec's random numbers.
constexpr std::int64_t max_ranks = 65536;

struct Role {
  std::string_view name;
  std::string_view base;  ///< of default names: base0, base1, …
  std::string_view does;
};
constexpr std::array<Role, 4> roles = {{{"parameter_server", "server", "keeps the parameters"},
                                        {"worker", "worker", "computes gradients"},
                                        {"input_reader", "reader", "reads the examples"},
                                        {"evaluator", "evaluator", "measures precision@1"}}};

const Role& role_named(std::string_view name) {
  for (const Role& role : roles) {
    if (role.name == name) return role;
  }
  return roles.front();
}

/// The bytes of an IPv4 or IPv6 address, or "" for anything else.
std::string address_bytes(const std::string& address) {
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return {bytes.data(), 16};
  return "";
}

bool is_this_machine(const std::string& address) {
  if (address == "localhost") return true;
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0 && address == name.data()) return true;
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

class Finisher {
 public:
  Finisher(const Draft& draft, Problems& problems) : draft_(draft), problems_(problems) {}

  ClusterFile finish(const std::string& default_name) {
    file_.format = draft_.root.format;
    file_.cluster = draft_.cluster;
    file_.job = draft_.job;
    file_.data = draft_.data;
    file_.optimizer = draft_.optimizer;
    file_.gradient = draft_.gradient;
    file_.evaluation = draft_.evaluation;
    file_.deadlines = draft_.deadlines;
    if (file_.cluster.name.empty()) file_.cluster.name = default_name;
    check_required();
    plan_hosts();
    check_life();
    if (problems_.any()) return file_;  // a mistake above would only echo below
    plan_actors();
    check_roles();
    return file_;
  }

 private:
  void check_required() {
    const ClusterKeys keys = cluster_keys();
    keys.for_each([&](const auto& section) {
      std::vector<std::string> tables;
      if (!section.list) {
        tables.emplace_back(section.name);
      } else if (section.name == keys.actor.name) {
        for (std::size_t i = 0; i < draft_.actors.size(); ++i) {
          tables.push_back(fmt::format("actor.{}", i));
        }
      }
      for (const auto& key : section.keys) {
        if (!key.required) continue;
        const std::string shown = section.name.empty()
                                      ? std::string(key.name)
                                      : fmt::format("{}.{}", section.name, key.name);
        for (const std::string& table : tables) {
          const std::string path =
              table.empty() ? std::string(key.name) : fmt::format("{}.{}", table, key.name);
          if (draft_.has(path)) continue;
          problems_.add(draft_.where(table), fmt::format("the key \"{}\" is missing", shown));
        }
      }
    });
  }

  void plan_hosts() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < draft_.hosts.size(); ++i) {
      HostSection host = draft_.hosts[i];
      const std::string path = fmt::format("host.{}", i);
      if (host.bind.empty()) host.bind = host.address;
      const auto twin = std::find(names.begin(), names.end(), host.name);
      if (twin != names.end()) {
        two_of_one_name("hosts", host.name, fmt::format("host.{}", twin - names.begin()), path);
      }
      names.push_back(host.name);
      for (const auto& [key, address] : {std::pair{"address", host.address}, {"bind", host.bind}}) {
        if (is_this_machine(address)) continue;
        problems_.add(draft_.where(fmt::format("{}.{}", path, key)),
                      fmt::format("\"{}\" is not an address of this machine; other hosts come "
                                  "with ssh in a later version",
                                  address));
        break;
      }
      file_.hosts.push_back(std::move(host));
    }
    if (file_.cluster.head.empty()) file_.cluster.head = names.front();
    check_host("cluster.head", file_.cluster.head, names);
  }

  void check_life() {
    const ClusterSection& cluster = file_.cluster;
    if (cluster.silence > cluster.heartbeat) return;
    const char* key = draft_.has("cluster.silence") ? "cluster.silence" : "cluster.heartbeat";
    problems_.add(draft_.where(key),
                  fmt::format("\"cluster.silence\" ({}) must be longer than \"cluster.heartbeat\" "
                              "({}), or every actor is taken for dead",
                              duration_text(cluster.silence), duration_text(cluster.heartbeat)));
  }

  void plan_actors() {
    std::vector<std::string> hosts;
    for (const HostSection& host : file_.hosts) hosts.push_back(host.name);
    std::map<std::string, std::int64_t> unnamed;  // how many of a role so far
    std::map<std::string, std::string> path_of;   // by actor's name
    std::int64_t first_rank = 0;
    for (std::size_t i = 0; i < draft_.actors.size(); ++i) {
      const ActorSection& entry = draft_.actors[i];
      const std::string path = fmt::format("actor.{}", i);
      const std::vector<std::string>& on = entry.hosts.empty() ? hosts : entry.hosts;
      for (const std::string& host : on) check_host(path + ".hosts", host, hosts);
      if (entry.role != "worker" && draft_.has(path + ".ranks")) {
        problems_.add(
            draft_.where(path + ".ranks"),
            fmt::format("\"actor.ranks\" is for workers, not for the role \"{}\"", entry.role));
      }
      for (std::int64_t n = 0; n < entry.count; ++n) {
        ActorPlan actor;
        actor.role = entry.role;
        actor.name = entry.name.empty()
                         ? fmt::format("{}{}", role_named(entry.role).base, unnamed[entry.role]++)
                     : entry.count > 1 ? fmt::format("{}{}", entry.name, n)
                                       : entry.name;
        actor.host = on[static_cast<std::size_t>(n) % on.size()];
        if (entry.role == "worker") {
          actor.ranks = entry.ranks;
          actor.first_rank = first_rank;
          first_rank += entry.ranks;
        }
        check_name(actor.name, path, path_of);
        file_.actors.push_back(std::move(actor));
      }
    }
    if (first_rank > max_ranks) {
      problems_.add(draft_.where("actor.0"),
                    fmt::format("{} ranks are too many; at most {} fit", first_rank, max_ranks));
    }
  }

  void check_name(const std::string& name, const std::string& path,
                  std::map<std::string, std::string>& path_of) {
    for (const char* taken : {"coordinator", "launcher", "node"}) {
      if (name != taken) continue;
      problems_.add(draft_.where(path + ".name"),
                    fmt::format("the run itself has a process named \"{}\"; give the actor another "
                                "name",
                                name));
    }
    const auto [twin, fresh] = path_of.emplace(name, path);
    if (!fresh) two_of_one_name("actors", name, twin->second, path);
  }

  void check_roles() {
    for (const Role& role : roles) {
      if (file_.count(role.name) > 0) continue;
      problems_.add({}, fmt::format("no actor has the role \"{0}\", which {1}; add [[actor]] with "
                                    "role = \"{0}\"",
                                    role.name, role.does));
    }
    if (file_.count("evaluator") <= 1) return;
    for (std::size_t i = draft_.actors.size(); i-- > 0;) {
      if (draft_.actors[i].role != "evaluator") continue;
      return problems_.add(
          draft_.where(fmt::format("actor.{}", i)),
          fmt::format("a job has one evaluator, not {}", file_.count("evaluator")));
    }
  }

  void check_host(const std::string& path, const std::string& host,
                  const std::vector<std::string>& hosts) {
    if (std::find(hosts.begin(), hosts.end(), host) != hosts.end()) return;
    std::string advice = did_you_mean(host, hosts);
    if (advice.empty()) advice = fmt::format("; there are {}", fmt::join(hosts, ", "));
    problems_.add(draft_.where(path), fmt::format("there is no host \"{}\"{}", host, advice));
  }

  void two_of_one_name(std::string_view what, const std::string& name, const std::string& first,
                       const std::string& second) {
    const Where there = draft_.where(first + ".name");
    if (!reported_twins_.insert(first + second).second) return;
    problems_.add(draft_.where(second + ".name"),
                  fmt::format("two {} are named \"{}\", here and at {}; give one of them another "
                              "name",
                              what, name, problems_.place(there)));
  }

  const Draft& draft_;
  Problems& problems_;
  ClusterFile file_;
  std::set<std::string> reported_twins_;
};

}  // namespace

void Problems::add(const Where& where, const std::string& message) {
  lines_.push_back({where, place(where) + ": " + message});
}

std::string Problems::place(const Where& where) const {
  if (!where.override_text.empty()) {
    std::string text = "--set " + where.override_text;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
    return text;
  }
  return where.line > 0 ? fmt::format("{}:{}", path_, where.line) : path_;
}

Error Problems::error() const {
  std::vector<Line> sorted = lines_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Line& a, const Line& b) {
    const auto order = [](const Line& line) {
      return std::pair{!line.where.override_text.empty(), line.where.line};
    };
    return order(a) < order(b);
  });
  std::string text;
  for (const Line& line : sorted) {
    text += text.empty() ? "" : "\n";
    text += line.text;
  }
  return {Errc::invalid_argument, text};
}

Where Draft::where(std::string_view path) const {
  while (true) {
    const auto found = given.find(path);
    if (found != given.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return {};
    path = path.substr(0, dot);
  }
}

ClusterFile finish(const Draft& draft, const std::string& default_name, Problems& problems) {
  return Finisher(draft, problems).finish(default_name);
}

}  // namespace sterna::launcher
