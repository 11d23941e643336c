#include "runtime/cluster/node.h"

#include <fmt/format.h>

#include "runtime/actor/wait_for.h"
#include "runtime/cluster/run_files.h"

namespace sterna {

namespace {
constexpr Duration kStatusInterval = std::chrono::seconds(1);
/// After SIGKILL a process is gone as soon as the kernel has taken it down.
constexpr Duration kDeathTakes = std::chrono::seconds(3);
/// A process that fills its memory fast is seen a little late.
constexpr Duration kMemoryInterval = std::chrono::milliseconds(200);
constexpr double kMegabyte = 1e6;
}  // namespace

NodeActor::NodeActor(const Bootstrap& self, Machine& machine, Process& process,
                     EndOwnProcess end_process)
    : self_(self),
      machine_(machine),
      end_process_(std::move(end_process)),
      coordinator_(agent_of<Coordinator>({self.uplink.process})),
      children_(machine.spawner(), machine.loop(), process.timers(),
                [this](const ProcessDown& down) { child_ended(down); }),
      lease_(machine.loop(), machine.boot_clock(), self.lease, [this] {
        lease_lost(fmt::format("no word from the coordinator for the {} s of the lease",
                               std::chrono::duration<double>(self_.lease).count()));
      }) {}

void NodeActor::started() {
  run(reporting());
  run(watching_memory());
}

Task<void> NodeActor::watching_memory() {
  while (true) {
    co_await sleep(kMemoryInterval);
    std::vector<std::pair<ProcessId, std::string>> verdicts;
    children_.for_each([&](ProcessId child, const Bootstrap& told, std::int64_t pid, bool) {
      if (told.memory_limit == 0) return;
      const std::uint64_t resident = machine_.spawner().resident_bytes(pid);
      if (resident <= told.memory_limit) return;
      verdicts.emplace_back(
          child, fmt::format("it uses {:.0f} MB of memory, more than its limit of {:.0f} MB",
                             static_cast<double>(resident) / kMegabyte,
                             static_cast<double>(told.memory_limit) / kMegabyte));
    });
    for (const auto& [child, verdict] : verdicts) children_.condemn(child, verdict);
  }
}

void NodeActor::announce(Contact contact) { run(announcing(std::move(contact))); }

Task<void> NodeActor::announcing(Contact contact) {
  Ready ready{std::move(contact), AnyRef(agent_of<Node>(process().id()))};
  const Result<void> heard = co_await ask(coordinator_, std::move(ready), 2 * kControlDeadline);
  if (!heard) lease_lost("the coordinator did not take this node in: " + heard.error().message);
}

Result<void> NodeActor::from_coordinator() const {
  if (sender().process == coordinator_.id.process) return {};
  process().blame_sender("only the coordinator gives orders");
  return Error{Errc::permission, "only the coordinator gives orders"};
}

Result<void> NodeActor::from_child() const {
  if (children_.contains(sender().process)) return {};
  process().blame_sender("it is no process of this node's");
  return Error{Errc::permission, "not a process of this node's"};
}

// ---- from its processes ----

Task<Result<Found>> NodeActor::on(Find find) {
  STERNA_CO_TRY(from_child());
  const Duration patience = find.patience + kControlDeadline;
  co_return co_await ask(coordinator_, std::move(find), patience);
}

Task<Result<void>> NodeActor::on(Connect connect) {
  STERNA_CO_TRY(from_child());
  connect.from = sender().process;
  co_return co_await ask(coordinator_, connect, kControlDeadline);
}

void NodeActor::on(LinkReport report) {
  if (!from_child()) return;
  report.from = sender().process;
  tell(coordinator_, std::move(report));
}

void NodeActor::on(LinkTrouble trouble) {
  if (!from_child()) return;
  trouble.from = sender().process;
  tell(coordinator_, std::move(trouble));
}

Task<Result<void>> NodeActor::on(Ready ready) {
  STERNA_CO_TRY(from_child());
  if (ready.contact.process != sender().process.value) {
    process().blame_sender("it speaks for another process");
    co_return Error{Errc::permission, "a process speaks for itself only"};
  }
  const std::uint64_t neighbourhood = ready.contact.neighbourhood;
  if (neighbourhood != 0 && neighbourhood != self_.network.neighbourhood) {
    process().blame_sender("it claims to live on another host");
    co_return Error{Errc::permission, "a process lives where its node does"};
  }
  co_return co_await ask(coordinator_, std::move(ready), kControlDeadline);
}

Result<void> NodeActor::on(Leaving leaving) {
  STERNA_TRY(from_child());
  children_.leaving(sender().process, leaving);
  return {};
}

// ---- from the coordinator ----

Result<Spawned> NodeActor::on(StartProcess start) {
  STERNA_TRY(from_coordinator());
  if (stopping_) return Error{Errc::unavailable, self_.identity.name + " is stopping"};
  Bootstrap& child = start.bootstrap;
  // Where things are on this host is this node's to know.
  child.network.directory = self_.network.directory;
  child.network.neighbourhood = self_.network.neighbourhood;
  child.log_directory = self_.log_directory;
  Links& links = *process().links();
  links.set_tree_peer(child.process);
  links.admit(child.contact(machine_.keys().hash(child.credentials.token)));
  Result<std::int64_t> pid = children_.spawn(child);
  if (!pid) {
    links.drop(child.process, pid.error().message);
    return std::move(pid).error();
  }
  log("started " + child.identity.text() + ", pid " + std::to_string(*pid));
  return Spawned{*pid};
}

Task<Result<void>> NodeActor::on(Admit admit) {
  STERNA_CO_TRY(from_coordinator());
  if (admit.process == process().id()) {
    process().links()->admit(admit.contact);
    co_return {};
  }
  const auto to = agent_of<Control>(admit.process);
  co_return co_await ask(to, std::move(admit), kControlDeadline);
}

Task<Result<void>> NodeActor::on(Dial dial) {
  STERNA_CO_TRY(from_coordinator());
  const auto to = agent_of<Control>(dial.process);
  co_return co_await ask(to, std::move(dial), kControlDeadline);
}

void NodeActor::on(ProcessDown down) {
  if (!from_coordinator()) return;
  machine_.spawner().forget(down.identity.name);
  tell_children(down);
}

void NodeActor::on(ProcessRestarts restarts) {
  if (from_coordinator()) tell_children(restarts);
}

template <class M>
void NodeActor::tell_children(const M& message) {
  children_.for_each([&](ProcessId child, const Bootstrap&, std::int64_t, bool) {
    if (process().links()->identity_of(child) != nullptr) tell(agent_of<Control>(child), message);
  });
}

void NodeActor::on(EndProcess end) {
  if (!from_coordinator() || !children_.contains(end.process)) return;
  if (end.at_once) {
    children_.condemn(end.process, end.cause);
  } else {
    children_.suspect(end.process, end.cause);
  }
}

Task<Result<Stopped>> NodeActor::on(StopAll stop) {
  STERNA_CO_TRY(from_coordinator());
  const std::size_t all = children_.size();
  auto ended = end_all(stop.grace);
  const std::size_t killed = co_await std::move(ended);
  co_return Stopped{static_cast<std::uint32_t>(all - killed), static_cast<std::uint32_t>(killed)};
}

/// Politely, and who is left after the grace by SIGKILL; returns how many those were.
Task<std::size_t> NodeActor::end_all(Duration grace) {
  stopping_ = true;
  std::vector<ProcessId> asked;
  children_.for_each(
      [&](ProcessId child, const Bootstrap&, std::int64_t, bool) { asked.push_back(child); });
  for (const ProcessId child : asked) {
    children_.want_end(child);
    // A link that is still opening takes the message too, and keeps it until it is open.
    if (grace > Duration::zero() && process().links()->identity_of(child) != nullptr) {
      tell(agent_of<Control>(child), Stop{});
    } else {
      children_.kill(child);  // no grace, or not even connected: it has nothing to finish
    }
  }
  co_await all_gone(now() + grace);
  const std::size_t left = children_.size();
  children_.kill_all();
  co_await all_gone(now() + kDeathTakes);
  co_return left;
}

Task<void> NodeActor::all_gone(Time deadline) {
  while (!children_.empty() && now() < deadline) {
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

Task<Result<Inspection>> NodeActor::on(Inspect question) {
  STERNA_CO_TRY(from_coordinator());
  if (question.process == process().id()) co_return inspect(*process().links());
  co_return co_await ask(agent_of<Control>(question.process), question, kControlDeadline);
}

void NodeActor::on(Stop) {
  if (from_coordinator()) end_process_(0, "");
}

void NodeActor::on(Renew) {
  if (from_coordinator()) lease_.renew();
}

Result<FilePiece> NodeActor::on(ReadFile question) {
  STERNA_TRY(from_coordinator());
  return read_piece(self_.log_directory, question);
}

// ---- faults on purpose ----

Result<void> NodeActor::on(Strike strike) {
  STERNA_TRY(from_coordinator());
  if (!children_.contains(strike.process)) return Error{Errc::not_found, "it has ended"};
  switch (strike.kind) {
    case FaultKind::KILL:
      children_.kill(strike.process);
      break;
    case FaultKind::STOP:
      children_.freeze(strike.process);
      if (strike.lasts > Duration::zero()) run(thawing(strike.process, strike.lasts));
      break;
    case FaultKind::CUT:
      // Its answer would come over the connection that it shuts.
      run(cutting(strike));
      break;
  }
  return {};
}

Task<void> NodeActor::thawing(ProcessId process, Duration after) {
  co_await sleep(after);
  children_.thaw(process);
}

Task<void> NodeActor::cutting(Strike strike) {
  (void)co_await ask(agent_of<Control>(strike.process), strike, kControlDeadline);
}

// ---- what happens to its processes ----

void NodeActor::child_ended(const ProcessDown& down) {
  log(down.identity.text() + (down.wanted ? " has ended: " : " is dead: ") + down.cause);
  process().links()->drop(down.process, down.cause);
  tell(coordinator_, down);
  changed_.notify_all();
}

void NodeActor::link_ended(const Contact& peer, const std::string& cause, bool fault) {
  const ProcessId peer_process{peer.process};
  if (peer_process == coordinator_.id.process) {
    lease_lost("the link to the coordinator ended: " + cause);
  } else if (children_.contains(peer_process)) {
    const bool silent = cause == kSilence;
    // Who breaks the rules would break them again: it is not to be started again.
    if (fault) tell(coordinator_, LinkReport{process().id(), peer, cause, true});
    if (fault || silent) {
      children_.condemn(peer_process, silent ? silence_text(self_.silence) : cause);
    } else {
      children_.suspect(peer_process, cause);
    }
  }
}

void NodeActor::lease_lost(const std::string& cause) {
  if (std::exchange(ending_, true)) return;
  run(ending(cause));
}

Task<void> NodeActor::ending(std::string cause) {
  log("ending with all processes of this host: " + cause);
  auto ended = end_all(self_.grace);
  co_await std::move(ended);
  end_process_(kExitLostLease, cause);
}

// ---- status ----

Task<void> NodeActor::reporting() {
  while (true) {
    co_await sleep(kStatusInterval);
    if (process().links()->connected(coordinator_.id.process)) tell(coordinator_, status());
  }
}

StatusReport NodeActor::status() const {
  StatusReport report;
  const Links& links = *process().links();
  const LinkStatistics own = process().statistics();
  report.processes.push_back({process().id(), self_.identity, self_.host, machine_.pid(),
                              stopping_ ? "stopping" : "running",
                              machine_.spawner().resident_bytes(machine_.pid()), own.loop_lag,
                              own.queued_bytes, own.bytes_in, own.bytes_out, own.actors});
  children_.for_each([&](ProcessId child, const Bootstrap& told, std::int64_t pid, bool stopping) {
    ProcessStatus status;
    status.process = child;
    status.identity = told.identity;
    status.host = self_.host;
    status.pid = pid;
    status.state = stopping ? "stopping" : links.connected(child) ? "running" : "starting";
    status.resident_bytes = machine_.spawner().resident_bytes(pid);
    if (const LinkStatistics* words = links.last_words(child)) {
      status.loop_lag = words->loop_lag;
      status.queued_bytes = words->queued_bytes;
      status.bytes_in = words->bytes_in;
      status.bytes_out = words->bytes_out;
      status.actors = words->actors;
    }
    report.processes.push_back(std::move(status));
  });
  return report;
}

}  // namespace sterna
