#include "runtime/sim/sim_world.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "runtime/cluster/hosted_process.h"

namespace sterna {

namespace {

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
    shared_.post([this, alive = std::weak_ptr<bool>(alive_), work = std::move(work)] {
      if (!alive.expired() && !frozen) work();
    });
  }
  bool run_until(const std::function<bool()>& done, Time deadline) override {
    return shared_.run_until(done, deadline);
  }

  bool frozen = false;

 private:
  struct Gate final : Source {
    Gate(OwnLoop& own, Source& real) : loop(own), source(real) {}
    void turn() override { source.turn(); }
    bool ready() override { return !loop.frozen && source.ready(); }
    Time next_deadline() override { return loop.frozen ? kNever : source.next_deadline(); }
    OwnLoop& loop;
    Source& source;
  };
  SimLoop& shared_;
  std::vector<std::unique_ptr<Gate>> sources_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

/// What one simulated process stands on.
class SimWorld::Host final : public Machine, private KeyIssuer, private Spawner {
 public:
  Host(SimWorld& world, std::int64_t pid, std::string name)
      : own_loop(world.loop_),
        world_(world),
        pid_(pid),
        name_(std::move(name)),
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
    return std::make_unique<SimExecutor>(world_.loop_, world_.job_time_);
  }
  std::unique_ptr<KeptMemory> kept_memory(const Bootstrap& bootstrap) override;
  std::int64_t pid() const override { return pid_; }
  void log(std::string_view line) override {
    world_.log_.push_back(name_ + ": " + std::string(line));
  }
  Result<std::string> make_socket_directory() override { return std::string("memory"); }
  void remove_socket_directory(const std::string&) override {}
  Result<std::string> make_near_directory(std::uint64_t) override { return std::string("memory"); }
  void remove_near_directories(std::uint64_t) override {}
  std::size_t sweep(std::uint64_t) override {
    const std::size_t left = world_.processes_.size();
    while (!world_.processes_.empty()) {
      world_.end(world_.processes_.begin()->first, ProcessExit{-1, SIGKILL, false});
    }
    return left;
  }

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
  void kill(std::int64_t pid) override { world_.end_soon(pid, ProcessExit{-1, SIGKILL, false}); }
  void forget(const std::string& actor) override { world_.kept_[pid_].forget(actor); }
  std::uint64_t resident_bytes(std::int64_t) const override { return 4096; }

  SimWorld& world_;
  std::int64_t pid_;
  std::string name_;
  SeededRandom random_;
};

struct SimWorld::Hosted {
  Hosted(SimWorld& world, std::int64_t pid, std::int64_t parent_pid, Bootstrap bootstrap,
         Spawner::Callbacks to_parent)
      : parent(parent_pid),
        name(bootstrap.identity.name),
        host(world, pid, name),
        process(host, std::move(bootstrap), world.registry_),
        callbacks(std::move(to_parent)) {}
  std::int64_t parent;
  std::string name;
  Host host;
  HostedProcess process;
  Spawner::Callbacks callbacks;
};

std::unique_ptr<KeptMemory> SimWorld::Host::kept_memory(const Bootstrap& bootstrap) {
  const auto hosted = world_.processes_.find(pid_);  // nobody started the launcher
  if (bootstrap.kind != ProcessKind::ACTOR || hosted == world_.processes_.end()) return nullptr;
  return world_.kept_[hosted->second->parent].of(name_);
}

SimWorld::SimWorld(std::uint64_t seed, const Registry& registry)
    : network_(loop_),
      registry_(registry),
      seed_(seed),
      job_time_([] { return Duration(std::chrono::milliseconds(1)); }),
      launcher_(std::make_unique<Host>(*this, 1, "launcher")) {}

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
  processes_[pid] =
      std::make_unique<Hosted>(*this, pid, parent, std::move(told), std::move(callbacks));
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
  } else if (hosted.callbacks.on_contact) {
    hosted.callbacks.on_contact(*contact);
  }
}

// ---- ending ----

void SimWorld::end_soon(std::int64_t pid, const ProcessExit& exit) {
  // Not now: it may be the one who asks.
  loop_.after(Duration(1), [this, pid, exit] { end(pid, exit); });
}

void SimWorld::end(std::int64_t pid, const ProcessExit& exit) {
  auto node = processes_.extract(pid);
  if (node.empty()) return;
  const auto on_exit = std::move(node.mapped()->callbacks.on_exit);
  if (exit.signal != 0) network_.silence(node.mapped()->name);
  node.mapped().reset();
  kept_.erase(pid);
  // The parent-death signal.
  std::vector<std::int64_t> children;
  for (const auto& [child, hosted] : processes_) {
    if (hosted->parent == pid) children.push_back(child);
  }
  for (const std::int64_t child : children) end(child, ProcessExit{-1, SIGKILL, false});
  if (on_exit) on_exit(exit);
}

void SimWorld::kill(const std::string& name) {
  for (const auto& [pid, hosted] : processes_) {
    if (hosted->name == name) {
      end_soon(pid, ProcessExit{-1, SIGKILL, false});
      return;
    }
  }
}

void SimWorld::freeze(const std::string& name) {
  network_.set_paused(name, true);
  for (const auto& [pid, hosted] : processes_) {
    if (hosted->name == name) hosted->host.own_loop.frozen = true;
  }
}

bool SimWorld::lives(const std::string& name) const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [&](const auto& each) { return each.second->name == name; });
}

}  // namespace sterna
