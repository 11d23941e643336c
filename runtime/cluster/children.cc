#include "runtime/cluster/children.h"

#include <optional>
#include <utility>

#include "runtime/base/log_tail.h"
#include "runtime/cluster/process_control.h"

namespace sterna {

namespace {

/// How long the exit of a process may come after the loss of its link.
constexpr Duration kExitFollows = std::chrono::seconds(1);
/// And how long after SIGKILL: longer where its group is frozen, or a disk does not answer.
constexpr Duration kSigkillTakes = std::chrono::seconds(5);
constexpr std::size_t kLastLines = 3;

/// Why one ends that has lost its lease, if it is all that is known.
std::string lost_link_of(ProcessKind kind) {
  return kind == ProcessKind::NODE ? "it lost the link to the coordinator"
                                   : "it lost the link to its node";
}

}  // namespace

struct Children::Child final : Timers::Target {
  Children& owner;
  Bootstrap bootstrap;
  std::int64_t pid = 0;
  bool wanted = false;
  std::optional<Leaving> last_words;
  std::string suspicion;
  std::string verdict;    ///< why we killed it
  bool given_up = false;  ///< its death was told before its exit
  Timers::Id timer = 0;

  Child(Children& children, Bootstrap b) : owner(children), bootstrap(std::move(b)) {}
  ~Child() { owner.timers_.cancel(timer); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void timer_fired() override {
    if (verdict.empty()) {
      owner.condemn(bootstrap.process, suspicion);
    } else {
      owner.give_up(*this);
    }
  }
};

Children::Children(Spawner& spawner, const Clock& clock, Timers& timers, OnEnd on_end)
    : spawner_(spawner),
      clock_(clock),
      timers_(timers),
      on_end_(std::move(on_end)),
      alive_(std::make_shared<Children*>(this)) {}

Children::~Children() {
  alive_.reset();
  kill_all();
}

Children::Child* Children::find(ProcessId process) {
  const auto found = children_.find(process);
  return found == children_.end() ? nullptr : found->second.get();
}

Result<std::int64_t> Children::spawn(const Bootstrap& bootstrap,
                                     std::function<void(const Contact&)> on_contact) {
  auto child = std::make_unique<Child>(*this, bootstrap);
  child->bootstrap.credentials = {};  // known to the child only from here on
  const ProcessId process = bootstrap.process;
  Spawner::Callbacks callbacks;
  callbacks.on_contact = std::move(on_contact);
  callbacks.on_exit = [alive = std::weak_ptr<Children*>(alive_), process](const ProcessExit& exit) {
    if (const auto children = alive.lock()) (*children)->ended(process, exit);
  };
  callbacks.on_release = [alive = std::weak_ptr<Children*>(alive_), process] {
    if (const auto children = alive.lock()) (*children)->children_.erase(process);
  };
  STERNA_ASSIGN(child->pid, spawner_.spawn(bootstrap, std::move(callbacks)));
  const std::int64_t pid = child->pid;
  children_[process] = std::move(child);
  return pid;
}

void Children::leaving(ProcessId process, const Leaving& last_words) {
  if (Child* child = find(process)) child->last_words = last_words;
}

void Children::want_end(ProcessId process) {
  if (Child* child = find(process)) child->wanted = true;
}

void Children::suspect(ProcessId process, const std::string& cause) {
  Child* child = find(process);
  if (child == nullptr || child->timer != 0) return;
  child->suspicion = cause;
  child->timer = timers_.arm(clock_.now() + kExitFollows, *child);
}

void Children::condemn(ProcessId process, const std::string& cause) {
  Child* child = find(process);
  if (child == nullptr) return;
  if (child->verdict.empty()) {
    child->verdict = cause;
    timers_.cancel(child->timer);
    child->timer = timers_.arm(clock_.now() + kSigkillTakes, *child);
  }
  spawner_.kill(child->pid);
}

void Children::give_up(Child& child) {
  child.given_up = true;
  ProcessDown down;
  down.process = child.bootstrap.process;
  down.identity = child.bootstrap.identity;
  down.cause = child.verdict + ", and SIGKILL has not ended it";
  down.last_lines = log_tail(child.bootstrap.log_file(), kLastLines);
  on_end_(down);
}

void Children::kill(ProcessId process) {
  if (const Child* child = find(process)) spawner_.kill(child->pid);
}

void Children::freeze(ProcessId process) {
  if (const Child* child = find(process)) spawner_.freeze(child->pid);
}

void Children::thaw(ProcessId process) {
  if (const Child* child = find(process)) spawner_.thaw(child->pid);
}

void Children::kill_all() {
  for (const auto& [process, child] : children_) spawner_.kill(child->pid);
}

std::int64_t Children::pid_of(ProcessId process) const {
  const auto found = children_.find(process);
  return found == children_.end() ? 0 : found->second->pid;
}

void Children::for_each(
    const std::function<void(ProcessId, const Bootstrap&, std::int64_t, bool)>& visit) const {
  for (const auto& [process, child] : children_) {
    visit(process, child->bootstrap, child->pid, child->wanted);
  }
}

void Children::ended(ProcessId process, const ProcessExit& exit) {
  auto node = children_.extract(process);
  if (node.empty()) return;
  const Child& child = *node.mapped();
  // Whatever it had started itself goes with it.
  spawner_.kill(child.pid);
  if (child.given_up) return;
  ProcessDown down;
  down.process = process;
  down.identity = child.bootstrap.identity;
  down.exit_code = exit.code;
  down.signal = exit.signal;
  if (!child.verdict.empty()) {
    down.cause = child.verdict;
  } else if (child.last_words) {
    down.cause = child.last_words->cause.empty() ? "it stopped" : child.last_words->cause;
    down.consequence = child.last_words->bereft;
    down.unreached = child.last_words->unreached;
  } else if (exit.code == kExitLostLease) {
    // It may know before we do.
    down.cause = child.suspicion.empty() ? lost_link_of(child.bootstrap.kind) : child.suspicion;
  } else {
    down.cause = exit.text();
  }
  down.wanted =
      child.verdict.empty() &&
      (child.wanted || (child.last_words && child.last_words->cause.empty() && exit.clean()));
  if (!down.wanted) down.last_lines = log_tail(child.bootstrap.log_file(), kLastLines);
  on_end_(down);
}

}  // namespace sterna
