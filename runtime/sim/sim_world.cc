#include "runtime/sim/sim_world.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "runtime/cluster/hosted_process.h"

namespace sterna {

namespace {

constexpr std::int64_t kLauncherPid = 1;
const PeerIdentity kLauncher{"launcher", 1};

/// A process's view of the shared loop, which can stand still while the others go on.
class OwnLoop final : public Loop {
 public:
  explicit OwnLoop(SimLoop& shared) : shared_(shared) {}
  ~OwnLoop() override {
    for (const auto& source : sources_) shared_.remove(*source);
  }
  Time now() const override { return shared_.now(); }
  void add(Source& source) override {
    sources_.push_back(std::make_unique<Gate>(*this, source));
    shared_.add(*sources_.back());
  }
  void remove(Source& source) override {
    const auto gate = std::find_if(sources_.begin(), sources_.end(),
                                   [&](const auto& each) { return &each->source == &source; });
    if (gate == sources_.end()) return;
    shared_.remove(**gate);
    sources_.erase(gate);
  }
  void post(std::function<void()> work) override {
    shared_.post(only_alive([this, work = std::move(work)] { when_awake(work); }));
  }
  bool run_until(const std::function<bool()>& done, Time deadline) override {
    return shared_.run_until(done, deadline);
  }

  bool frozen() const { return frozen_; }
  void freeze() { frozen_ = true; }
  void thaw() {
    frozen_ = false;
    for (auto& work : std::exchange(held_, {})) post(std::move(work));
  }
  /// `work`, if this loop is still there then.
  std::function<void()> only_alive(std::function<void()> work) const {
    return [alive = std::weak_ptr<bool>(alive_), work = std::move(work)] {
      if (!alive.expired()) work();
    };
  }
  /// Once it is not frozen, and if it still lives then.
  void when_awake(std::function<void()> work) {
    if (frozen_) {
      held_.push_back(std::move(work));
    } else {
      work();
    }
  }

 private:
  struct Gate final : Source {
    Gate(OwnLoop& own, Source& real) : loop(own), source(real) {}
    void turn() override { source.turn(); }
    bool ready() override { return !loop.frozen_ && source.ready(); }
    Time next_deadline() override { return loop.frozen_ ? kNever : source.next_deadline(); }
    OwnLoop& loop;
    Source& source;
  };
  SimLoop& shared_;
  bool frozen_ = false;
  std::vector<std::function<void()>> held_;  // while frozen
  std::vector<std::unique_ptr<Gate>> sources_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

namespace {

/// As SimExecutor, but who is frozen hears of the end of a job when it is not any more.
class OwnExecutor final : public Executor {
 public:
  using Run = std::function<void(const std::function<void()>& work)>;
  OwnExecutor(SimLoop& shared, OwnLoop& own, std::function<Duration()> duration, Run run)
      : shared_(shared), own_(own), duration_(std::move(duration)), run_(std::move(run)) {}
  void submit(std::function<void()> work, std::function<void()> done) override {
    run_(work);
    // The launcher's machine outlives the executors of its clusters.
    auto told = [alive = std::weak_ptr<bool>(alive_), done = std::move(done)] {
      if (!alive.expired()) done();
    };
    shared_.after(duration_(),
                  own_.only_alive([&own = own_, told = std::move(told)] { own.when_awake(told); }));
  }

 private:
  SimLoop& shared_;
  OwnLoop& own_;
  std::function<Duration()> duration_;
  Run run_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

/// What one simulated process stands on.
class SimWorld::Host final : public Machine, private KeyIssuer, private Spawner {
 public:
  Host(SimWorld& world, std::int64_t pid, PeerIdentity who)
      : own_loop(world.loop_),
        world_(world),
        pid_(pid),
        who_(std::move(who)),
        random_(world.seed_ + static_cast<std::uint64_t>(pid)) {}

  Loop& loop() override { return own_loop; }
  const Clock& boot_clock() override { return own_loop; }
  Random& random() override { return random_; }
  KeyIssuer& keys() override { return *this; }
  Spawner& spawner() override { return *this; }
  Result<std::unique_ptr<Transport>> make_transport(const Bootstrap& bootstrap) override {
    return std::unique_ptr<Transport>(std::make_unique<MemoryTransport>(
        world_.network_, bootstrap.identity, bootstrap.credentials));
  }
  std::unique_ptr<Executor> make_executor(std::uint32_t) override {
    const auto host = [&world = world_, who = who_] { return world.network_.host_of(who); };
    return std::make_unique<OwnExecutor>(
        world_.loop_, own_loop, [&world = world_, host] { return world.job_time_(host()); },
        [&world = world_, host](const std::function<void()>& job) { world.run_job_(host(), job); });
  }
  std::unique_ptr<KeptMemory> kept_memory(const Bootstrap& bootstrap) override;
  std::int64_t pid() const override { return pid_; }
  void log(std::string_view line) override {
    std::string whole = who_.name + ": " + std::string(line);
    if (world_.on_log_) {
      world_.on_log_(whole);
    } else {
      world_.log_.push_back(std::move(whole));
    }
  }
  Result<std::string> make_socket_directory() override { return std::string("memory"); }
  void remove_socket_directory(const std::string&) override {}
  Result<std::string> make_near_directory(std::uint64_t) override { return std::string("memory"); }
  void remove_near_directories(std::uint64_t) override {}
  std::size_t sweep(std::uint64_t) override;

  OwnLoop own_loop;

 private:
  Result<Credentials> issue() override {
    const std::string number = std::to_string(++world_.issued_keys_);
    return Credentials{"public-" + number, "secret-" + number, "token-" + number};
  }
  std::string hash(const std::string& token) const override { return "hash of " + token; }

  Result<std::int64_t> spawn(const Bootstrap& bootstrap, Callbacks callbacks) override {
    return world_.spawn(pid_, bootstrap, std::move(callbacks));
  }
  void kill(std::int64_t pid) override { world_.kill_from(pid_, pid); }
  void forget(const std::string& actor) override { world_.kept_[pid_].forget(actor); }
  Result<KeptBytes> read_kept(const std::string& actor, std::uint64_t offset,
                              std::size_t most) const override;
  Result<void> write_kept(const std::string& actor, std::uint64_t offset, std::uint64_t size,
                          ByteView bytes) override;
  std::uint64_t resident_bytes(std::int64_t) const override { return 4096; }

  SimWorld& world_;
  std::int64_t pid_;
  PeerIdentity who_;
  SeededRandom random_;
};

struct SimWorld::Hosted {
  Hosted(SimWorld& world, std::int64_t pid, std::int64_t parent_pid, Bootstrap bootstrap,
         Spawner::Callbacks to_parent)
      : parent(parent_pid),
        who(bootstrap.identity),
        host(world, pid, who),
        process(host, std::move(bootstrap), world.registry_),
        callbacks(std::move(to_parent)) {}
  std::int64_t parent;
  PeerIdentity who;
  Host host;
  HostedProcess process;
  Spawner::Callbacks callbacks;
};

std::unique_ptr<KeptMemory> SimWorld::Host::kept_memory(const Bootstrap& bootstrap) {
  const auto hosted = world_.processes_.find(pid_);  // nobody started the launcher
  if (bootstrap.kind != ProcessKind::ACTOR || hosted == world_.processes_.end()) return nullptr;
  return world_.kept_[hosted->second->parent].of(who_.name);
}

Result<KeptBytes> SimWorld::Host::read_kept(const std::string& actor, std::uint64_t offset,
                                            std::size_t most) const {
  const std::shared_ptr<Buffer> kept = world_.kept_[pid_].contents(actor);
  if (kept == nullptr) return KeptBytes{};
  const MutableBytes all = kept->bytes();
  const std::size_t begin = std::min<std::size_t>(offset, all.size());
  return KeptBytes{all.size(), copy_bytes(all.subspan(begin, std::min(most, all.size() - begin)))};
}

Result<void> SimWorld::Host::write_kept(const std::string& actor, std::uint64_t offset,
                                        std::uint64_t size, ByteView bytes) {
  return world_.kept_[pid_].put(actor, offset, size, bytes);
}

/// Of whom it reaches.
std::size_t SimWorld::Host::sweep(std::uint64_t) {
  std::vector<std::int64_t> left;
  for (const auto& [pid, hosted] : world_.processes_) {
    if (!world_.network_.apart(kLauncher, hosted->who)) left.push_back(pid);
  }
  for (const std::int64_t pid : left) world_.end(pid, ProcessExit{-1, SIGKILL, false});
  return left.size();
}

SimWorld::SimWorld(std::uint64_t seed, const Registry& registry)
    : network_(loop_),
      registry_(registry),
      seed_(seed),
      job_time_([](const std::string&) { return Duration(std::chrono::milliseconds(1)); }),
      run_job_([](const std::string&, const std::function<void()>& job) { job(); }),
      launcher_(std::make_unique<Host>(*this, kLauncherPid, kLauncher)) {}

SimWorld::~SimWorld() {
  while (!processes_.empty()) {
    const auto hosted = std::move(processes_.begin()->second);
    processes_.erase(processes_.begin());
  }
}

Machine& SimWorld::launcher() { return *launcher_; }

std::size_t SimWorld::kept() const {
  std::size_t kept = 0;
  for (const auto& [parent, memory] : kept_) kept += memory.count();
  return kept;
}

// ---- starting ----

Result<std::int64_t> SimWorld::spawn(std::int64_t parent, const Bootstrap& bootstrap,
                                     Spawner::Callbacks callbacks) {
  // What the child is told has been written and read, as over its standard input.
  STERNA_ASSIGN(Bootstrap told, unpack<Bootstrap>(pack(bootstrap).view()));
  const std::int64_t pid = next_pid_++;
  if (bootstrap.kind == ProcessKind::NODE && !told.log_directory.empty()) {
    told.log_directory = bootstrap.host;
  }
  processes_[pid] =
      std::make_unique<Hosted>(*this, pid, parent, std::move(told), std::move(callbacks));
  if (bootstrap.kind == ProcessKind::NODE) {
    network_.place(bootstrap.identity, bootstrap.host);
  } else if (const auto node = processes_.find(parent); node != processes_.end()) {
    network_.place_beside(bootstrap.identity, node->second->who);
  }
  if (on_life_) on_life_(processes_[pid]->who, nullptr);
  loop_.after(spawn_time_, [this, pid] { begin(pid); });
  return pid;
}

void SimWorld::begin(std::int64_t pid) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  Hosted& hosted = *found->second;
  hosted.process.set_on_end([this, pid] {
    const auto finished = processes_.find(pid);
    if (finished == processes_.end()) return;
    end_soon(pid, ProcessExit{finished->second->process.exit_code(), 0, false});
  });
  const Result<Contact> contact = hosted.process.start();
  if (!contact) {
    hosted.host.log(contact.error().message);
    end_soon(pid, ProcessExit{1, 0, false});
    return;
  }
  if (on_send_) {
    hosted.process.process().set_chaos(
        [this, name = hosted.who.name](const Header& header, ProcessId) {
          return on_send_(name, header);
        });
  }
  if (hosted.callbacks.on_contact) hosted.callbacks.on_contact(*contact);
}

// ---- ending ----

void SimWorld::end_soon(std::int64_t pid, const ProcessExit& exit) {
  // Not now: it may be the one who asks.
  loop_.after(Duration(1), [this, pid, exit] { end(pid, exit); });
}

void SimWorld::end(std::int64_t pid, const ProcessExit& exit) {
  auto node = processes_.extract(pid);
  if (node.empty()) return;
  const PeerIdentity who = node.mapped()->who;
  const std::int64_t parent = node.mapped()->parent;
  const auto on_exit = std::move(node.mapped()->callbacks.on_exit);
  if (exit.signal != 0) network_.silence(who.name);
  const bool was_frozen = node.mapped()->host.own_loop.frozen();
  node.mapped().reset();
  kept_.erase(pid);
  // Who has the name next is not frozen.
  if (was_frozen) network_.set_paused(who.name, false);
  if (on_life_) on_life_(who, &exit);
  // The parent-death signal.
  std::vector<std::int64_t> children;
  for (const auto& [child, hosted] : processes_) {
    if (hosted->parent == pid) children.push_back(child);
  }
  for (const std::int64_t child : children) end(child, ProcessExit{-1, SIGKILL, false});
  if (!on_exit) return;
  if (!processes_.contains(parent) && network_.apart(kLauncher, who)) {
    unheard_exits_[pid] = {who, on_exit, exit};
    return;
  }
  if (const auto above = processes_.find(parent); above != processes_.end()) {
    above->second->host.own_loop.when_awake([on_exit, exit] { on_exit(exit); });
  } else {
    on_exit(exit);
  }
}

SimWorld::Hosted* SimWorld::named(const std::string& name) const {
  const auto found = std::ranges::find_if(
      processes_, [&](const auto& each) { return each.second->who.name == name; });
  return found == processes_.end() ? nullptr : found->second.get();
}

void SimWorld::kill(const std::string& name) {
  for (const auto& [pid, hosted] : processes_) {
    if (hosted->who.name == name) {
      end_soon(pid, ProcessExit{-1, SIGKILL, false});
      return;
    }
  }
}

void SimWorld::tell_to_end(const std::string& name) {
  for (const auto& [pid, hosted] : processes_) {
    if (hosted->who.name == name) return hosted->process.told_to_end();
  }
}

void SimWorld::kill_from(std::int64_t parent, std::int64_t pid) {
  const ProcessExit killed{-1, SIGKILL, false};
  const auto found = processes_.find(pid);
  std::function<void(const ProcessExit&)> on_exit;
  if (found == processes_.end()) {
    const auto unheard = unheard_exits_.extract(pid);
    if (!unheard.empty()) on_exit = unheard.mapped().on_exit;
  } else if (parent == kLauncherPid && network_.apart(kLauncher, found->second->who)) {
    on_exit = std::exchange(found->second->callbacks.on_exit, nullptr);
  } else {
    return end_soon(pid, killed);
  }
  // What has started it from afar ends, and nothing there hears of it.
  if (on_exit) loop_.after(Duration(1), [on_exit, killed] { on_exit(killed); });
}

void SimWorld::set_isolated(const std::string& host, bool deaf, bool mute) {
  network_.set_isolated(host, deaf, mute);
  for (auto one = unheard_exits_.begin(); one != unheard_exits_.end();) {
    const UnheardExit& unheard = one->second;
    if (network_.apart(kLauncher, unheard.who)) {
      ++one;
      continue;
    }
    loop_.after(Duration(1), [on_exit = unheard.on_exit, exit = unheard.exit] { on_exit(exit); });
    one = unheard_exits_.erase(one);
  }
}

void SimWorld::freeze(const std::string& name) {
  Hosted* hosted = named(name);
  if (hosted == nullptr) return;
  network_.set_paused(name, true);
  hosted->host.own_loop.freeze();
}

void SimWorld::thaw(const std::string& name) {
  Hosted* hosted = named(name);
  if (hosted == nullptr || !hosted->host.own_loop.frozen()) return;
  // What came meanwhile lies in its sockets; its timers look at the clock.
  network_.set_paused(name, false);
  hosted->host.own_loop.thaw();
}

void SimWorld::suffer(const std::string& name, const Strike& strike) {
  Hosted* hosted = named(name);
  if (hosted != nullptr) (void)hosted->process.suffer(strike).ok();
}

std::optional<PeerIdentity> SimWorld::living(const std::string& name) const {
  const Hosted* hosted = named(name);
  if (hosted == nullptr) return std::nullopt;
  return hosted->who;
}

}  // namespace sterna
