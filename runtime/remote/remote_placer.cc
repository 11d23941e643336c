#include "runtime/remote/remote_placer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/host/lifeline.h"
#include "runtime/host/process_names.h"
#include "runtime/message/packed_message.h"

namespace sterna {

namespace {

/// Beyond any pid of this host.
constexpr std::int64_t kFirstRemoteId = std::int64_t{1} << 40;
/// How often the shipping to one host is told of.
constexpr Duration kTellEvery = std::chrono::milliseconds(500);
constexpr double kMegabyte = 1e6;

}  // namespace

struct RemotePlacer::Placed {
  std::string host;
  std::int64_t id = 0;
  std::unique_ptr<RemoteSession> session;
  bool ready = false;  ///< its bundle is in place
  bool used = false;   ///< something was to be started
  bool over = false;
  ProcessExit exit;               ///< once over
  std::optional<Bootstrap> told;  ///< waits for ready
  Callbacks callbacks;
  std::optional<Time> shipping_since;
  std::uint64_t shipped_before = 0;
  Time told_at{};
};

RemotePlacer::RemotePlacer(UvLoop& loop, Spawner& local, RemotePlacerOptions options)
    : loop_(loop), local_(local), options_(std::move(options)), next_id_(kFirstRemoteId) {}

RemotePlacer::~RemotePlacer() = default;

void RemotePlacer::prepare_all() {
  for (const auto& [name, host] : options_.hosts) {
    if (!host.later) placed(name);
  }
}

Result<void> RemotePlacer::prepare(const std::function<bool()>& interrupted) {
  prepare_all();
  const auto failed = [this] {
    return std::find_if(placed_.begin(), placed_.end(),
                        [](const auto& entry) { return entry.second->over; });
  };
  const auto done = [this] {
    return std::all_of(placed_.begin(), placed_.end(),
                       [](const auto& entry) { return entry.second->ready; });
  };
  loop_.run_until([&] { return failed() != placed_.end() || done() || interrupted(); }, kNever);
  if (failed() != placed_.end()) return Error{Errc::unavailable, failed()->second->exit.words};
  if (!done()) return Error{Errc::cancelled, "interrupted"};
  return {};
}

std::map<std::string, std::string> RemotePlacer::prepare_each(
    const std::function<bool()>& interrupted) {
  prepare_all();
  const auto done = [this] {
    return std::all_of(placed_.begin(), placed_.end(),
                       [](const auto& entry) { return entry.second->ready || entry.second->over; });
  };
  loop_.run_until([&] { return done() || interrupted(); }, kNever);
  std::map<std::string, std::string> failed;
  for (const auto& [host, one] : placed_) {
    if (one->over) failed.emplace(host, one->exit.words);
  }
  return failed;
}

RemotePlacer::Placed& RemotePlacer::placed(const std::string& host) {
  auto& slot = placed_[host];
  if (slot) return *slot;
  slot = std::make_unique<Placed>();
  Placed& one = *slot;
  one.host = host;
  one.id = next_id_++;
  const RemoteHost& how = options_.hosts.at(host);
  RemoteSession::Options options;
  options.host = host;
  options.command = how.command;
  options.through_shell = how.through_shell;
  options.work = how.work;
  options.bundle = options_.bundle;
  options.patience = options_.patience;
  RemoteSession::Events events;
  events.ready = [this, &one](const RemoteFacts&) {
    one.ready = true;
    if (one.told) start(one);
  };
  events.shipping = [this, &one](std::uint64_t done, std::uint64_t total) {
    shipping(one, done, total);
  };
  events.ended = [this, &one](const ProcessExit& exit) { ended(one, exit); };
  Result<std::unique_ptr<RemoteSession>> opened =
      RemoteSession::open(loop_, std::move(options), std::move(events));
  if (opened) {
    one.session = std::move(opened).value();
  } else {
    one.over = true;
    one.exit.words = host + ": " + opened.error().message;
  }
  return one;
}

RemotePlacer::Placed* RemotePlacer::find(std::int64_t id) const {
  for (const auto& [host, one] : placed_) {
    if (one->id == id) return one.get();
  }
  const auto found = std::ranges::find(followed_, id, [](const auto& one) { return one->id; });
  return found == followed_.end() ? nullptr : found->get();
}

Result<std::int64_t> RemotePlacer::spawn(const Bootstrap& bootstrap, Callbacks callbacks) {
  const bool elsewhere =
      bootstrap.kind == ProcessKind::NODE && options_.hosts.contains(bootstrap.host);
  if (!elsewhere) return local_.spawn(bootstrap, std::move(callbacks));
  std::erase_if(followed_, [](const auto& one) { return one->over; });
  if (auto before = placed_.find(bootstrap.host); before != placed_.end() && before->second->used) {
    followed_.push_back(std::move(before->second));
    placed_.erase(before);
  }
  Placed& one = placed(bootstrap.host);
  one.used = true;
  if (one.over) return Error{Errc::unavailable, one.exit.words};
  one.told = bootstrap;
  one.callbacks = std::move(callbacks);
  if (one.ready) start(one);
  return one.id;
}

void RemotePlacer::start(Placed& one) {
  std::vector<std::string> arguments =
      child_arguments("", one.told->identity.name, one.told->run, 0);
  arguments.erase(arguments.begin());  // the program's own name
  one.session->run(arguments);
  one.session->write(with_size(pack(*one.told)));
  one.told.reset();
}

void RemotePlacer::shipping(Placed& one, std::uint64_t done, std::uint64_t total) {
  const Time now = loop_.now();
  if (!one.shipping_since) {
    one.shipping_since = now;
    one.shipped_before = done;
  }
  const bool all = done == total;
  if (!options_.progress || (!all && now - one.told_at < kTellEvery)) return;
  one.told_at = now;
  const double seconds = std::chrono::duration<double>(now - *one.shipping_since).count();
  const double sent = static_cast<double>(done - one.shipped_before);
  std::string text =
      fmt::format("shipping the program to {}: {:.1f} of {:.1f} MB", one.host,
                  static_cast<double>(done) / kMegabyte, static_cast<double>(total) / kMegabyte);
  if (all && seconds > 0) {
    text += fmt::format(" in {:.2f} s, {:.1f} MB/s", seconds, sent / seconds / kMegabyte);
  }
  options_.progress(text);
}

void RemotePlacer::ended(Placed& one, const ProcessExit& exit) {
  one.over = true;
  one.exit = exit;
  if (detaching_) return;
  const auto on_exit = std::exchange(one.callbacks.on_exit, {});
  if (on_exit) on_exit(exit);
}

void RemotePlacer::kill(std::int64_t pid) {
  Placed* one = find(pid);
  if (one == nullptr) {
    local_.kill(pid);
  } else if (one->session) {
    one->session->kill();
  }
}

std::uint64_t RemotePlacer::resident_bytes(std::int64_t pid) const {
  return find(pid) == nullptr ? local_.resident_bytes(pid) : 0;
}

void RemotePlacer::detach() {
  detaching_ = true;
  for (const auto& [host, one] : placed_) {
    if (!one->session || one->over) continue;
    const auto word = std::make_shared<Buffer>(1);
    *word->data() = static_cast<std::byte>(Lifeline::kDetach);
    one->session->write({word, word->bytes()});
  }
}

bool RemotePlacer::detached() const {
  return std::all_of(placed_.begin(), placed_.end(), [](const auto& entry) {
    return entry.second->over && entry.second->session->detached();
  });
}

std::vector<std::string> ssh_command(const std::string& destination, Duration patience) {
  // Before we give up ourselves: ssh knows better why.
  const auto seconds = std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::seconds>(patience * 2 / 3).count());
  return {"ssh", "-T",
          "-o",  "BatchMode=yes",
          "-o",  fmt::format("ConnectTimeout={}", seconds),
          "-o",  "ServerAliveInterval=5",
          "-o",  "ServerAliveCountMax=3",
          "-o",  "ControlMaster=no",
          "-o",  "ControlPersist=no",
          "--",  destination};
}

}  // namespace sterna
