#include "runtime/cluster/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <type_traits>
#include <utility>

#include "runtime/actor/ask_above.h"
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
/// What its processes have to say of each other waits for a coordinator, as far as it is no more.
constexpr std::size_t kMostUntold = 4096;
/// What a process says of an end all others hear, and the run's owner keeps: as many bytes as of
/// the words of a failure.
constexpr std::size_t kLongestCause = 4096;
/// As many processes as a run may have.
constexpr std::size_t kMostBegun = 4096;
/// Whether anybody still waits for an answer is looked at so often.
constexpr Duration kLongestQuest = std::chrono::seconds(10);
/// So many renewals may be lost or late before a lease runs out.
constexpr int kRenewalsPerLease = 4;
/// What a supervisor gives at least before it kills.
constexpr Duration kLeavesWithin = std::chrono::seconds(20);

void cut(std::string& said) { said.resize(std::min(said.size(), kLongestCause)); }
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
        // What was here may be elsewhere from now on.
        end_all_here(fmt::format("no word from the coordinator for the {} s of the lease",
                                 std::chrono::duration<double>(self_.lease).count()),
                     Duration::zero());
      }) {}

void NodeActor::started() {
  run(reporting());
  run(renewing());
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
  // The one that follows it dials us if it knows us; if not, the launcher starts another node.
  Task<Result<void>> asking = ask_coordinator(std::move(ready), 2 * kControlDeadline);
  const Result<void> heard = co_await asking;
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

template <class M>
Task<Result<ReplyTo<M>>> NodeActor::ask_coordinator(M message, Duration deadline) {
  const Time end = now() + deadline;
  while (true) {
    Task<Result<ReplyTo<M>>> asking =
        ask_above(process(), id().local, coordinator_, M(message), deadline);
    Result<ReplyTo<M>> result = co_await asking;
    // It has no room for more of this host's questions just now.
    const bool full = !result && result.error().code == Errc::overloaded;
    if (!full || now() >= end) co_return result;
    co_await sleep(kAskAgain);
  }
}

template <class M>
Task<void> NodeActor::telling(M message) {
  ++untold_;
  while (true) {
    if constexpr (std::is_same_v<M, LinkTrouble>) {
      // It is over by now, which is told as well, and maybe before.
      if (!message.over && !troubles_.contains({message.from, message.to})) break;
    }
    Task<Result<void>> asking = ask_coordinator(M(message), kControlDeadline);
    const Result<void> heard = co_await asking;
    if (heard || !may_yet_be_answered(heard.error().code)) break;
    co_await sleep(kAskAgain);
  }
  --untold_;
}

// ---- from its processes ----

Task<Result<Found>> NodeActor::on(Find find) {
  STERNA_CO_TRY(from_child());
  const Time until = now() + find.patience;
  std::shared_ptr<Quest> quest = quests_[find.name];
  if (quest == nullptr) {
    quest = quests_[find.name] = std::make_shared<Quest>();
    quest->until = until;
    run(seeking(find.name, quest));
  }
  quest->until = std::max(quest->until, until);
  while (!quest->outcome) {
    const bool in_time = quest->asked_until <= until;
    if (!in_time && now() >= until) break;
    co_await wait_for(quest->changed, process().timers(), in_time ? kNever : until);
  }
  if (quest->outcome) co_return *quest->outcome;
  // Others wait longer. Why this one waited in vain the coordinator knows.
  find.patience = {};
  Task<Result<Found>> asking = ask_coordinator(std::move(find), kControlDeadline);
  co_return co_await asking;
}

/// All actors of a host may look for all others: the coordinator is asked for each of them once.
Task<void> NodeActor::seeking(std::string name, std::shared_ptr<Quest> quest) {
  const auto is_wanted = [&] { return quest.use_count() > 2; };  // by others than us and the map
  std::optional<Result<Found>> outcome;
  do {
    const Duration patience = std::min(quest->until - now(), kLongestQuest);
    quest->asked_until = now() + patience;
    quest->changed.notify_all();
    Task<Result<Found>> asking = ask_coordinator(Find{name, patience}, patience + kControlDeadline);
    outcome = co_await asking;
  } while (!*outcome && now() >= quest->asked_until && now() < quest->until && is_wanted());
  quests_.erase(name);
  quest->outcome = std::move(outcome);
  quest->changed.notify_all();
}

Task<Result<void>> NodeActor::on(Connect connect) {
  STERNA_CO_TRY(from_child());
  connect.from = sender().process;
  Task<Result<void>> asking = ask_coordinator(connect, kControlDeadline);
  co_return co_await asking;
}

void NodeActor::on(LinkReport report) {
  if (!from_child()) return;
  report.from = sender().process;
  Contact peer;  // of which nobody asks for more than who it is
  peer.process = report.peer.process;
  peer.identity = std::move(report.peer.identity);
  cut(peer.identity.name);
  report.peer = std::move(peer);
  cut(report.cause);
  if (untold_ < kMostUntold) run(telling(std::move(report)));
}

void NodeActor::on(LinkTrouble trouble) {
  if (!from_child()) return;
  trouble = {.from = sender().process,
             .to = trouble.to,
             .from_name = {},
             .to_name = {},
             .cause = std::move(trouble.cause),
             .lasts = trouble.lasts,
             .over = trouble.over};
  cut(trouble.cause);
  const std::pair pair(trouble.from, trouble.to);
  if (trouble.over) {
    troubles_.erase(pair);
  } else if (troubles_.size() < kMostUntold) {
    troubles_[pair] = trouble;
  }
  if (untold_ < kMostUntold) run(telling(std::move(trouble)));
}

void NodeActor::on(LinkPace pace) {
  if (!from_child()) return;
  pace = {.from = sender().process,
          .to = pace.to,
          .from_name = {},
          .to_name = {},
          .from_host = {},
          .to_host = {},
          .rate = pace.rate,
          .lasts = pace.lasts,
          .over = pace.over};
  if (untold_ < kMostUntold) run(telling(std::move(pace)));
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
  // The coordinator may stand still, and be followed by another one.
  while (true) {
    Task<Result<void>> asking = ask_coordinator(Ready(ready), kControlDeadline);
    Result<void> heard = co_await asking;
    if (heard || !may_yet_be_answered(heard.error().code)) co_return heard;
  }
}

Result<void> NodeActor::on(Leaving leaving) {
  STERNA_TRY(from_child());
  cut(leaving.cause);
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
  begun_.insert(child.process);
  if (begun_.size() > kMostBegun) begun_.erase(begun_.begin());
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
  auto asked = ask(to, std::move(admit), kControlDeadline);
  co_return co_await asked;
}

Task<Result<void>> NodeActor::on(Dial dial) {
  STERNA_CO_TRY(from_coordinator());
  const auto to = agent_of<Control>(dial.process);
  auto asked = ask(to, std::move(dial), kControlDeadline);
  co_return co_await asked;
}

void NodeActor::on(ProcessDown down) {
  if (!from_coordinator()) return;
  machine_.spawner().forget(down.identity.name);
  forget_troubles(down.process);
  tell_children(down);
}

void NodeActor::on(ProcessRestarts restarts) {
  if (!from_coordinator()) return;
  forget_troubles(restarts.down.process);
  tell_children(restarts);
}

void NodeActor::forget_troubles(ProcessId gone) {
  std::erase_if(troubles_, [&](const auto& one) {
    return one.first.first == gone || one.first.second == gone;
  });
}

template <class M>
void NodeActor::tell_children(const M& message) {
  children_.for_each([&](ProcessId child, const Bootstrap&, std::int64_t, bool) {
    if (process().links()->identity_of(child) != nullptr) tell(agent_of<Control>(child), message);
  });
}

Result<Ending> NodeActor::on(EndProcess end) {
  STERNA_TRY(from_coordinator());
  if (!children_.contains(end.process)) return Ending{false};
  if (end.at_once) {
    children_.condemn(end.process, end.cause);
  } else {
    children_.suspect(end.process, end.cause);
  }
  return Ending{true};
}

Result<Sought> NodeActor::on(SeekProcess question) {
  STERNA_TRY(from_coordinator());
  return Sought{begun_.contains(question.process), children_.pid_of(question.process)};
}

Result<void> NodeActor::on(Resume resume) {
  STERNA_TRY(from_coordinator());
  self_.uplink = std::move(resume.contact);
  for (const Contact& next : resume.successors) process().links()->announce(next);
  alone_ = false;
  // It was said in this session, however long it lay in between.
  lease_.renew(machine_.boot_clock().now() + -process().links()->age_of(sender().process));
  run(renewing_once());
  for (const auto& [pair, trouble] : troubles_) run(telling(LinkTrouble(trouble)));
  tell(coordinator_, status());
  return {};
}

Task<Result<Stopped>> NodeActor::on(StopAll stop) {
  STERNA_CO_TRY(from_coordinator());
  auto ended = end_all(stop.grace);
  co_await ended;
  // Whom SIGKILL has not ended yet did not stop either.
  const std::size_t killed = killed_ + children_.size();
  co_return Stopped{static_cast<std::uint32_t>(*to_end_ - killed),
                    static_cast<std::uint32_t>(killed)};
}

/// Politely, and who is left after the grace by SIGKILL.
Task<void> NodeActor::end_all(Duration grace) {
  stopping_ = true;
  // Whoever is told once more, as there is no more patience, counts those that have ended since.
  if (!to_end_) to_end_ = children_.size();
  std::vector<ProcessId> asked;
  children_.for_each(
      [&](ProcessId child, const Bootstrap&, std::int64_t, bool) { asked.push_back(child); });
  for (const ProcessId child : asked) {
    children_.want_end(child);
    // A link that is still opening takes the message too, and keeps it until it is open.
    if (grace > Duration::zero() && process().links()->identity_of(child) != nullptr) {
      tell(agent_of<Control>(child), Stop{});
    } else {
      if (grace > Duration::zero()) nothing_to_finish_.insert(child);  // it is not even connected
      children_.kill(child);
    }
  }
  co_await all_gone(now() + grace);
  children_.kill_all();
  co_await all_gone(now() + kDeathTakes);
}

Task<void> NodeActor::all_gone(Time deadline) {
  while (!children_.empty() && now() < deadline) {
    co_await wait_for(changed_, process().timers(), deadline);
  }
}

Task<Result<Inspection>> NodeActor::on(Inspect question) {
  STERNA_CO_TRY(from_coordinator());
  if (question.process == process().id()) co_return inspect(*process().links());
  auto asked = ask(agent_of<Control>(question.process), question, kControlDeadline);
  co_return co_await asked;
}

void NodeActor::on(Stop) {
  if (from_coordinator()) end_process_(0, "");
}

Result<FilePiece> NodeActor::on(ReadFile question) {
  STERNA_TRY(from_coordinator());
  return read_piece(self_.log_directory, question);
}

// ---- what it keeps for actors ----

Result<KeptPiece> NodeActor::on(ReadKept question) {
  STERNA_TRY(from_coordinator());
  STERNA_ASSIGN(KeptBytes kept,
                machine_.spawner().read_kept(question.actor, question.offset, ReadKept::kMost));
  return KeptPiece{kept.size, std::move(kept.bytes)};
}

Result<void> NodeActor::on(WriteKept piece) {
  STERNA_TRY(from_coordinator());
  return machine_.spawner().write_kept(piece.actor, piece.offset, piece.size, piece.bytes.view());
}

void NodeActor::on(ForgetKept forget) {
  if (from_coordinator()) machine_.spawner().forget(forget.actor);
}

// ---- faults on purpose ----

Task<Result<void>> NodeActor::on(Strike strike) {
  STERNA_CO_TRY(from_coordinator());
  if (!children_.contains(strike.process)) co_return Error{Errc::not_found, "it has ended"};
  switch (strike.kind) {
    case FaultKind::KILL:
      children_.kill(strike.process);
      break;
    case FaultKind::STOP:
      children_.freeze(strike.process);
      if (strike.lasts > Duration::zero()) run(thawing(strike.process, strike.lasts));
      break;
    case FaultKind::CUT:
    case FaultKind::DELAY:
    case FaultKind::DROP:
      // Its answer comes over a connection that suffers.
      run(ordering(strike));
      break;
    case FaultKind::DEVICE_FAULT:
      auto asked = ask(agent_of<Control>(strike.process), strike, kControlDeadline);
      co_return co_await asked;
  }
  co_return Result<void>{};
}

Task<void> NodeActor::thawing(ProcessId process, Duration after) {
  co_await sleep(after);
  children_.thaw(process);
}

Task<void> NodeActor::ordering(Strike strike) {
  auto asked = ask(agent_of<Control>(strike.process), strike, kControlDeadline);
  (void)co_await asked;
}

// ---- what happens to its processes ----

void NodeActor::child_ended(const ProcessDown& down) {
  log(down.identity.text() + (down.wanted ? " has ended: " : " is dead: ") + down.cause);
  process().links()->drop(down.process, down.cause);
  last_heard_.erase(down.process);
  // By its exit: who was already on its way out when SIGKILL came has stopped.
  ProcessDown told = down;
  if (nothing_to_finish_.contains(down.process)) told.signal = 0;
  if (to_end_ && told.signal == SIGKILL) ++killed_;
  // Who ends because we do has not done all that it was to do: our own end says so.
  if (!ending_) run(telling(std::move(told)));
  changed_.notify_all();
}

void NodeActor::link_ended(const Contact& peer, const std::string& cause, bool fault) {
  const ProcessId peer_process{peer.process};
  if (peer_process == coordinator_.id.process) {
    const bool may_come_again = !self_.successors.empty() && !fault && !stopping_;
    if (!may_come_again) return lease_lost("the link to the coordinator ended: " + cause);
    if (!std::exchange(alone_, true)) {
      log("the coordinator is lost: " + cause + "; going on for the lease without it");
    }
    run(dialling_again());
  } else if (children_.contains(peer_process)) {
    const bool silent = cause == kSilence;
    // Who breaks the rules would break them again: it is not to be started again.
    if (fault) run(telling(LinkReport{process().id(), peer, cause, true}));
    if (fault || silent) {
      children_.condemn(peer_process, silent ? silence_text(self_.silence) : cause);
    } else {
      children_.suspect(peer_process, cause);
    }
  }
}

/// It may live, and only the link be lost; if it does not, the next one dials us.
Task<void> NodeActor::dialling_again() {
  co_await sleep(self_.heartbeat / 2);
  Links& links = *process().links();
  if (!ending_ && links.identity_of(coordinator_.id.process) == nullptr) links.dial(self_.uplink);
}

// ---- the lease ----

Task<void> NodeActor::renewing() {
  while (true) {
    co_await sleep(self_.lease / kRenewalsPerLease);
    run(renewing_once());
  }
}

Task<void> NodeActor::renewing_once() {
  const Time asked = machine_.boot_clock().now();
  Future<void> answer = ask(coordinator_, Renew{}, self_.lease);
  if (const Result<void> granted = co_await answer) lease_.renew(asked);
}

void NodeActor::end_all_here(const std::string& cause, Duration grace) {
  if (std::exchange(ending_, true)) return;
  run(ending(cause, grace));
}

Task<void> NodeActor::ending(std::string cause, Duration grace) {
  log("ending with all processes of this host: " + cause);
  auto ended = end_all(grace);
  co_await ended;
  end_process_(kExitLostLease, cause);
}

void NodeActor::told_to_end() {
  if (!std::exchange(leaving_, true)) return run(leaving());
  // At once: who stops politely tells others that it is no more, before they can know why.
  end_all_here("it was told to end by a signal, twice", Duration::zero());
}

Task<void> NodeActor::leaving() {
  log("told to end by a signal: its actors shall go on elsewhere");
  const Time deadline = machine_.loop().now() + kLeavesWithin;
  Result<Moved> moved = Moved{};
  do {
    // Where all are told, the run's owner ends it; and who is only starting can move soon.
    co_await sleep(self_.heartbeat);
    if (stopping_ || ending_) co_return;
    const Duration within = deadline - machine_.loop().now();
    Task<Result<Moved>> asking =
        ask_coordinator(Drain{self_.host, within}, within + kControlDeadline);
    moved = co_await asking;
    // Of an empty host the coordinator ends the node.
    if (moved || ending_) co_return;
  } while (moved.error().code != Errc::permission && machine_.loop().now() < deadline);
  ProcessDown down;
  down.process = process().id();
  down.identity = self_.identity;
  down.exit_code = kExitLostLease;
  down.cause =
      "it was told to end by a signal, and not all can go on elsewhere: " + moved.error().message;
  const std::string cause = down.cause;
  // First the reason: of the end itself others see only that links are gone.
  // (No answer comes: whoever is dead has no link.)
  tell(coordinator_, std::move(down));
  co_await sleep(self_.heartbeat / 2);
  end_all_here(cause, Duration::zero());
}

// ---- status ----

Task<void> NodeActor::reporting() {
  while (true) {
    co_await sleep(kStatusInterval);
    if (process().links()->connected(coordinator_.id.process)) tell(coordinator_, status());
  }
}

StatusReport NodeActor::status() {
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
    if (const LinkStatistics* words = links.last_words(child)) last_heard_[child] = *words;
    const auto heard = last_heard_.find(child);
    const bool begun = links.connected(child) || heard != last_heard_.end();
    status.state = stopping ? "stopping" : begun ? "running" : "starting";
    status.resident_bytes = machine_.spawner().resident_bytes(pid);
    if (heard != last_heard_.end()) {
      const LinkStatistics& words = heard->second;
      status.loop_lag = words.loop_lag;
      status.queued_bytes = words.queued_bytes;
      status.bytes_in = words.bytes_in;
      status.bytes_out = words.bytes_out;
      status.actors = words.actors;
    }
    report.processes.push_back(std::move(status));
  });
  return report;
}

}  // namespace sterna
