#include "launcher/cluster_file/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "actors/job/args.h"
#include "launcher/text/nearest.h"
#include "runtime/base/byte_size.h"

namespace sterna::launcher {
namespace {

/// Where fractions of cores are added up.
constexpr double kRounding = 1e-9;

/// What default names begin with: base0, base1, …
std::string base_of(const ActorSection& table) {
  return table.type.empty() ? std::string(facts_of(table.plays()).actor) : table.type;
}

/// "4 cpus, 1 gpu, 2GB of memory, the label "fast""
std::string wish(const ActorSection& table) {
  std::vector<std::string> parts;
  if (table.cpus > 0)
    parts.push_back(fmt::format("{} cpu{}", table.cpus, table.cpus == 1 ? "" : "s"));
  if (!table.devices.empty()) {
    parts.push_back(table.devices.size() == 1
                        ? fmt::format("gpu {}", table.devices.front())
                        : fmt::format("{} of gpus {}",
                                      table.gpus > 1 ? std::to_string(table.gpus) : "one",
                                      fmt::join(table.devices, ", ")));
  } else if (table.gpus > 0) {
    parts.push_back(fmt::format("{} gpu{}", table.gpus, table.gpus == 1 ? "" : "s"));
  }
  if (table.memory.count > 0) {
    parts.push_back(fmt::format("{} of memory", byte_size_text(table.memory.count)));
  }
  if (!table.labels.empty()) {
    parts.push_back(fmt::format("the label{} \"{}\"", table.labels.size() == 1 ? "" : "s",
                                fmt::join(table.labels, "\", \"")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// A host and what is taken of it.
struct Room {
  const HostSection* host = nullptr;
  double cpus = 0;
  std::uint64_t memory = 0;
  std::set<std::int64_t> named;      ///< devices that tables name
  std::set<std::int64_t> allocated;  ///< devices that were given to somebody who asked for any
  std::size_t actors = 0;

  bool has_labels(const ActorSection& table) const {
    return std::all_of(table.labels.begin(), table.labels.end(), [&](const std::string& label) {
      return std::find(host->labels.begin(), host->labels.end(), label) != host->labels.end();
    });
  }
  bool has_cpus(double wanted) const {
    return host->cpus == 0 || cpus + wanted <= static_cast<double>(host->cpus) + kRounding;
  }
  bool has_memory(std::uint64_t wanted) const {
    return host->memory.count == 0 ||
           wanted <= host->memory.count - std::min(memory, host->memory.count);
  }
  std::vector<std::int64_t> free_devices() const {
    std::vector<std::int64_t> result;
    for (std::int64_t device = 0; device < host->gpus; ++device) {
      if (!named.contains(device) && !allocated.contains(device)) result.push_back(device);
    }
    return result;
  }
  /// How much of what `table` asks for would be left, of its scarcest kind: 0 to 1.
  double share_left(const ActorSection& table) const {
    double least = 1;
    if (table.cpus > 0 && host->cpus > 0) {
      least = std::min(least, 1 - (cpus + table.cpus) / static_cast<double>(host->cpus));
    }
    if (table.memory.count > 0 && host->memory.count > 0) {
      least = std::min(least, 1 - static_cast<double>(memory + table.memory.count) /
                                      static_cast<double>(host->memory.count));
    }
    if (table.gpus > 0 && host->gpus > 0) {
      const auto left =
          static_cast<double>(free_devices().size()) - static_cast<double>(table.gpus);
      least = std::min(least, left / static_cast<double>(host->gpus));
    }
    return least;
  }
  /// `host "a" has 2 of 8 cpus and 0 of 1 gpus free`, of what `table` asks for.
  std::string what_is_free(const ActorSection& table) const {
    std::vector<std::string> parts;
    if (table.cpus > 0) {
      parts.push_back(
          host->cpus == 0
              ? "any number of cpus"
              : fmt::format("{:g} of {} cpus", static_cast<double>(host->cpus) - cpus, host->cpus));
    }
    if (table.gpus > 0 || !table.devices.empty()) {
      parts.push_back(fmt::format("{} of {} gpus", free_devices().size(), host->gpus));
    }
    if (table.memory.count > 0) {
      parts.push_back(host->memory.count == 0
                          ? "any amount of memory"
                          : fmt::format("{} of {} of memory",
                                        byte_size_text(host->memory.count - memory),
                                        byte_size_text(host->memory.count)));
    }
    if (parts.empty()) return fmt::format("\"{}\" has other labels", host->name);
    return fmt::format("\"{}\" has {} free{}", host->name, fmt::join(parts, ", "),
                       has_labels(table) ? "" : ", but not the labels");
  }
};

class Placing {
 public:
  Placing(std::span<const HostSection> hosts, std::span<const ActorSection> tables)
      : tables_(tables) {
    for (const HostSection& host : hosts) {
      if (!host.spare) rooms_.emplace_back().host = &host;
      some_gpus_ |= host.gpus > 0;
    }
    result_.actors = expand(tables);
  }

  Placement place() && {
    for (const bool asking : {false, true}) {
      std::size_t actor = 0;
      for (std::size_t table = 0; table < tables_.size(); ++table) {
        for (std::int64_t turn = 0; turn < tables_[table].actors(); ++turn, ++actor) {
          if (tables_[table].asks_for_resources() != asking) continue;
          const Wish wish{table, static_cast<std::size_t>(turn), &result_.actors[actor]};
          if (would_see_no_gpu(wish)) continue;
          asking ? fit(wish) : put_in_turn(wish);
        }
      }
    }
    return std::move(result_);
  }

 private:
  struct Wish {
    std::size_t table;
    std::size_t turn;  ///< among the actors of its table
    ActorPlan* actor;
  };

  /// Whether it computes on GPUs and asks for none, which is a problem as soon as they are given
  /// out: then nobody sees others than its own.
  bool would_see_no_gpu(const Wish& wish) {
    const ActorSection& table = tables_[wish.table];
    if (!some_gpus_ || wish.actor->backend != "cuda") return false;
    if (table.gpus > 0 || !table.devices.empty()) return false;
    const char* const what_to_do =
        table.hosts.empty() ? "set \"actor.gpus\" = 1" : "name one in \"actor.devices\"";
    problem(wish, "backend",
            fmt::format("computes on GPUs and asks for none, and where a host has \"gpus\" actors "
                        "see only what they are given; {}",
                        what_to_do));
    return true;
  }

  /// The devices that the table names for this actor; none where it names none.
  std::vector<std::int64_t> named_devices(const Wish& wish) const {
    const ActorSection& table = tables_[wish.table];
    std::vector<std::int64_t> devices;
    if (table.devices.empty()) return devices;
    const auto each = static_cast<std::size_t>(std::max<std::int64_t>(1, table.gpus));
    for (std::size_t i = 0; i < each; ++i) {
      devices.push_back(table.devices[(wish.turn * each + i) % table.devices.size()]);
    }
    return devices;
  }

  void take(Room& room, const Wish& wish, std::vector<std::int64_t> devices, bool named) {
    room.cpus += tables_[wish.table].cpus;
    room.memory += tables_[wish.table].memory.count;
    ++room.actors;
    (named ? room.named : room.allocated).insert(devices.begin(), devices.end());
    wish.actor->host = room.host->name;
    wish.actor->devices = std::move(devices);
  }

  /// Hosts are used in turn, each replica's one behind that of whom it replaces.
  std::size_t turn_of(const Wish& wish) const {
    const auto count = static_cast<std::size_t>(tables_[wish.table].count);
    return wish.turn < count ? wish.turn : wish.turn - count + 1;
  }

  void put_in_turn(const Wish& wish) {
    const ActorSection& table = tables_[wish.table];
    const std::size_t turn = turn_of(wish);
    auto room = rooms_.end();
    if (table.hosts.empty()) {
      if (!rooms_.empty())
        room = rooms_.begin() + static_cast<std::ptrdiff_t>(turn % rooms_.size());
    } else {
      std::vector<std::vector<Room>::iterator> named;
      for (const std::string& name : table.hosts) {
        const auto one =
            std::ranges::find(rooms_, name, [](const Room& r) { return r.host->name; });
        if (one != rooms_.end()) named.push_back(one);
      }
      if (!named.empty()) room = named[turn % named.size()];
    }
    if (room == rooms_.end()) {
      return problem(wish, "hosts", "has no host at the start: those that it may be on are spare");
    }
    const std::vector<std::int64_t> devices = named_devices(wish);
    for (const std::int64_t device : devices) {
      if (device < room->host->gpus) continue;
      return problem(
          wish, "devices",
          room->host->gpus == 0
              ? fmt::format("wants gpu {} of \"{}\", which has none; give that host its gpus",
                            device, room->host->name)
              : fmt::format("wants gpu {} of \"{}\", which has {}, counted from 0", device,
                            room->host->name, room->host->gpus));
    }
    if (!room->has_memory(table.memory.count)) {
      return problem(wish, "memory",
                     fmt::format("may take {}, but {}", byte_size_text(table.memory.count),
                                 room->what_is_free(table)));
    }
    take(*room, wish, devices, true);
  }

  bool fits(const Room& room, const Wish& wish, const std::vector<std::int64_t>& devices) const {
    const ActorSection& table = tables_[wish.table];
    if (!room.has_labels(table) || !room.has_cpus(table.cpus) ||
        !room.has_memory(table.memory.count)) {
      return false;
    }
    if (devices.empty()) {
      return room.free_devices().size() >= static_cast<std::size_t>(table.gpus);
    }
    return std::all_of(devices.begin(), devices.end(), [&](std::int64_t device) {
      return device < room.host->gpus && !room.allocated.contains(device);
    });
  }

  /// Whether who holds the same as that actor is there already.
  bool is_partners(const Room& room, const Wish& wish) const {
    return !wish.actor->partner.empty() &&
           std::ranges::any_of(result_.actors, [&](const ActorPlan& other) {
             return other.name == wish.actor->partner && other.host == room.host->name;
           });
  }

  /// What placing prefers, largest first.
  static std::tuple<double, std::int64_t> spreads(const Room& room, const ActorSection& table) {
    return {room.share_left(table), -static_cast<std::int64_t>(room.actors)};
  }

  void fit(const Wish& wish) {
    const ActorSection& table = tables_[wish.table];
    std::vector<std::int64_t> devices = named_devices(wish);
    Room* best = nullptr;
    for (const bool with_partner : {false, true}) {
      for (Room& room : rooms_) {
        if (best != nullptr && with_partner) break;  // apart, where that is possible
        if (!fits(room, wish, devices) || (!with_partner && is_partners(room, wish))) continue;
        if (!best || (table.policy == "spread" && spreads(room, table) > spreads(*best, table))) {
          best = &room;
        }
      }
    }
    if (!best) return nobody_fits(wish);
    const bool named = !devices.empty();
    if (!named) {
      devices = best->free_devices();
      devices.resize(static_cast<std::size_t>(table.gpus));
    }
    take(*best, wish, std::move(devices), named);
  }

  void nobody_fits(const Wish& wish) {
    const ActorSection& table = tables_[wish.table];
    std::vector<std::string> labels;
    for (const Room& room : rooms_) {
      labels.insert(labels.end(), room.host->labels.begin(), room.host->labels.end());
    }
    for (const std::string& label : table.labels) {
      if (std::find(labels.begin(), labels.end(), label) != labels.end()) continue;
      return problem(wish, "labels",
                     fmt::format("asks for the label \"{}\", which no host has{}", label,
                                 did_you_mean(label, labels)));
    }
    const auto better = [&](const Room& a, const Room& b) {
      const auto key = [&](const Room& room) {
        return std::tuple(room.has_labels(table), room.share_left(table));
      };
      return key(a) < key(b);
    };
    const auto best = std::max_element(rooms_.begin(), rooms_.end(), better);
    if (best == rooms_.end()) return problem(wish, "", "finds no host: there is none");
    problem(
        wish, "",
        fmt::format("asks for {}, and no host has that free; the best, {}; ask for less, or add "
                    "a host",
                    launcher::wish(table), best->what_is_free(table)));
  }

  /// One line for each table: its other actors ask for the same.
  void problem(const Wish& wish, std::string_view key, const std::string& message) {
    for (const PlacementProblem& known : result_.problems) {
      if (known.table == wish.table) return;
    }
    result_.problems.push_back(
        {wish.table, key, fmt::format("\"{}\" {}", wish.actor->name, message)});
  }

  std::span<const ActorSection> tables_;
  std::vector<Room> rooms_;
  bool some_gpus_ = false;  ///< whether a host says which it has
  Placement result_;
};

}  // namespace

namespace {

/// Its [[actor]], of whose actors() it is one: both lists have the same order.
const ActorSection* table_of(const ClusterFile& file, const ActorPlan& actor) {
  auto index = std::ranges::find(file.actors, actor.name, &ActorPlan::name) - file.actors.begin();
  for (const ActorSection& table : file.tables) {
    if (index < table.actors()) return &table;
    index -= table.actors();
  }
  return nullptr;
}

/// Of the last actors, which are the table's.
void add_replicas(const ActorSection& table, std::vector<ActorPlan>& actors) {
  if (table.replicas == 0) return;
  const std::size_t first = actors.size() - static_cast<std::size_t>(table.count);
  for (std::int64_t n = 0; n < table.count; ++n) {
    ActorPlan replica = actors[first + static_cast<std::size_t>(n)];
    std::swap(replica.name, replica.partner);
    replica.replica = true;
    actors.push_back(std::move(replica));
  }
}

}  // namespace

std::vector<ActorPlan> expand(std::span<const ActorSection> tables) {
  std::vector<ActorPlan> actors;
  std::map<std::string, std::int64_t> unnamed;  // how many of a base so far
  std::int64_t first_rank = 0;
  for (const ActorSection& table : tables) {
    for (std::int64_t n = 0; n < table.count; ++n) {
      ActorPlan actor;
      const std::string base = base_of(table);
      actor.name = table.name.empty() ? fmt::format("{}{}", base, unnamed[base]++)
                   : table.count > 1  ? fmt::format("{}{}", table.name, n)
                                      : table.name;
      actor.role = table.plays();
      actor.type = table.type;
      if (actor.role == Role::kNone) actor.args_json = table.args.text;
      actor.cpus = table.cpus;
      actor.memory = table.memory.count;
      if (actor.role == Role::kWorker) {
        actor.ranks = table.ranks;
        actor.first_rank = first_rank;
        first_rank += table.ranks;
      }
      if (table.shards > 0) {
        actor.shards = table.shards;
        actor.shard = n;
      }
      actor.backend = table.computes_on();
      actor.restarts = table.restarts();
      if (table.replicas > 0) actor.partner = actors::replica_of(actor.name);
      actors.push_back(std::move(actor));
    }
    add_replicas(table, actors);
  }
  return actors;
}

Placement place(std::span<const HostSection> hosts, std::span<const ActorSection> tables) {
  return Placing(hosts, tables).place();
}

std::vector<std::string> other_hosts(const ClusterFile& file, const ActorPlan& actor,
                                     std::size_t most) {
  std::vector<std::string> names;
  const ActorSection* table = table_of(file, actor);
  if (table == nullptr || !actor.devices.empty()) return names;
  std::vector<Room> rooms;
  for (const HostSection& host : file.hosts) {
    Room room;
    room.host = &host;
    for (const ActorPlan& other : file.actors) {
      if (other.host != host.name) continue;
      room.cpus += other.cpus;
      room.memory += other.memory;
      ++room.actors;
    }
    const bool allowed = table->hosts.empty() || std::ranges::count(table->hosts, host.name) > 0;
    if (host.name == actor.host || !allowed || !room.has_labels(*table) ||
        !room.has_memory(actor.memory)) {
      continue;
    }
    rooms.push_back(std::move(room));
  }
  std::ranges::stable_sort(rooms, {}, [&](const Room& room) {
    return std::tuple(room.host->spare, !room.has_cpus(actor.cpus), room.actors);
  });
  // Beside who holds the same only where there is nowhere else.
  const auto partner = std::ranges::find(file.actors, actor.partner, &ActorPlan::name);
  const std::string avoided = partner == file.actors.end() ? "" : partner->host;
  const bool only_there =
      std::ranges::count_if(rooms, [](const Room& room) { return !room.host->spare; }) == 1;
  for (const Room& room : rooms) {
    if (room.host->name == avoided && !only_there) continue;
    if (names.size() < most || room.host->spare) names.push_back(room.host->name);
  }
  return names;
}

Result<ClusterFile> place(ClusterFile file, std::vector<HostSection> hosts) {
  Placement placement = place(hosts, file.tables);
  if (!placement.problems.empty()) {
    std::string text;
    for (const PlacementProblem& problem : placement.problems) {
      text += (text.empty() ? "" : "\n") + problem.message;
    }
    return Error{Errc::invalid_argument, text};
  }
  file.hosts = std::move(hosts);
  file.actors = std::move(placement.actors);
  if (file.cluster.head.empty() && !file.hosts.empty()) file.cluster.head = file.hosts.front().name;
  return file;
}

}  // namespace sterna::launcher
