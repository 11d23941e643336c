// CoordinatorActor: who has died and why, and the end of the run.
#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/actor/wait_for.h"
#include "runtime/cluster/coordinator.h"
#include "runtime/transport/handshake.h"

namespace sterna {

namespace {

/// Peers that are no part of the run are each told of once in the log; so many at most.
constexpr std::size_t kMostStrangers = 1024;
/// How the cause of an end begins where nobody did anything wrong (runtime/link).
constexpr std::string_view kLinkLost = "link lost";
/// How long after the loss of a link its cause may be told, by the other end or by a node.
constexpr Duration kLinksCauseFollows = std::chrono::milliseconds(500);

}  // namespace

// ---- deaths ----

template <class M>
void CoordinatorActor::tell_all(const M& message) {
  for (const auto& [id, member] : members_) {
    if (member.kind == ProcessKind::NODE && member.state == State::READY) {
      tell(agent_of<Node>(id), message);
    } else if (member.kind == ProcessKind::LAUNCHER && member.state == State::READY) {
      tell(agent_of<LauncherControl>(id), message);
    }
  }
}

void CoordinatorActor::mark_dead(Member& member, ProcessDown down) {
  if (member.state == State::DEAD) return;
  down.process = member.process;
  down.identity = member.identity;
  down.host = member.host;
  down.wanted = down.wanted || stopping_;
  const bool was_ready = member.state == State::READY;
  member.state = State::DEAD;
  const auto has_it = [&](const std::pair<ProcessId, ProcessId>& pair) {
    return pair.first == member.process || pair.second == member.process;
  };
  std::erase_if(apart_, has_it);
  std::erase_if(over_since_, [&](const auto& one) { return has_it(one.first); });
  const bool again = starts_again(member, was_ready, down);
  member.cause = down.full_cause();
  member.done = down.wanted;
  member.down = down;
  member.died = now();
  note_member(member);
  note_origin(member.identity.name);
  log(member.identity.text() + (down.wanted ? " has ended: " : " is dead: ") + down.cause);
  std::optional<std::string> again_at;
  if (again) again_at = origins_.at(member.identity.name).start.host;
  run(tell_of_death(down, std::move(again_at)));
  if (member.kind == ProcessKind::NODE) {
    process().process_down(notice_of(down));
    ProcessDown consequence;
    consequence.cause = member.identity.name + " is gone: " + down.cause;
    consequence.consequence = true;
    for (auto& [id, other] : members_) {
      if (other.node == member.process) mark_dead(other, consequence);
    }
  }
  changed_.notify_all();
}

/// Where all is being stopped nobody follows us, and nothing waits for the journal: the launcher
/// hears of each end before it hears that it was the last.
Task<void> CoordinatorActor::tell_of_death(ProcessDown down, std::optional<std::string> again_at) {
  const std::uint64_t noted = journal();
  while (!is_kept(noted) && !stopping_) co_await kept_more_.wait();
  if (again_at) {
    tell_all(ProcessRestarts{std::move(down), std::move(*again_at)});
  } else {
    tell_all(down);
  }
}

Task<Result<void>> CoordinatorActor::on(ProcessDown down) {
  const bool by_launcher = sender().process == kLauncherProcess;
  if (!by_launcher) {
    STERNA_CO_TRY(from_node());
  }
  Member* member = find(down.process);
  const bool its_own = member != nullptr && (by_launcher ? member->kind == ProcessKind::NODE
                                                         : node_of(*member) == sender().process);
  if (its_own) mark_dead(*member, std::move(down));
  // From now on its node need not remember it.
  Task<void> kept = journaled();
  co_await kept;
  co_return Result<void>{};
}

/// Answered once what follows from it is done.
Task<Result<void>> CoordinatorActor::on(LinkReport report) {
  const bool by_launcher = sender().process == kLauncherProcess;
  if (!by_launcher) {
    STERNA_CO_TRY(from_node());
  }
  Member* peer = find({report.peer.process});
  if (stopping_ || (peer != nullptr && peer->state == State::DEAD)) co_return Result<void>{};
  const Member* from = find(by_launcher ? kLauncherProcess : report.from);
  const std::string reporter = from == nullptr ? "somebody" : from->identity.name;
  const std::string line =
      reporter + " reports about " + report.peer.identity.text() + ": " + report.cause;
  if (peer == nullptr || peer->kind != ProcessKind::ACTOR ||
      peer->identity != report.peer.identity) {
    // One who is admitted but no part of the run is only shut out, which has happened already. The
    // reporter has logged a fault; other ends are told here, once for each peer.
    const std::string who = reporter + " " + report.peer.identity.text();
    if (!report.fault && strangers_.size() < kMostStrangers && strangers_.insert(who).second)
      log(line);
    co_return Result<void>{};
  }
  if (report.fault) {
    log(line);
    Task<void> ended = condemn(peer->process, report.cause, true);
    co_await ended;
  } else {
    Task<void> judged =
        suspect(from == nullptr ? ProcessId{} : from->process, peer->process, report.cause);
    co_await judged;
  }
  co_return Result<void>{};
}

void CoordinatorActor::on(LinkTrouble trouble) {
  const bool by_launcher = sender().process == kLauncherProcess;
  if (!by_launcher && !from_node()) return;
  if (by_launcher) trouble.from = kLauncherProcess;
  const Member* from = find_live(trouble.from);
  const Member* to = find_live(trouble.to);
  if (stopping_ || from == nullptr || to == nullptr || from == to) return;
  if (!by_launcher && from->node != sender().process) {
    process().blame_sender("it speaks for a process that is not its own");
    return;
  }
  const std::pair<ProcessId, ProcessId> pair = std::minmax(trouble.from, trouble.to);
  const bool news = trouble.over ? is_over(pair, *from, *to, trouble.lasts)
                                 : apart_.insert(pair).second;  // the other end may have told
  if (!news) return;
  trouble.from_name = from->identity.name;
  trouble.to_name = to->identity.name;
  tell(agent_of<LauncherControl>(kLauncherProcess), std::move(trouble));
}

/// Whether it is news that two reach each other again. Who dialled always tells so; the other end
/// only where it had missed the connection itself, and then first.
bool CoordinatorActor::is_over(const std::pair<ProcessId, ProcessId>& pair, const Member& from,
                               const Member& to, Duration lasted) {
  const bool were_apart = apart_.erase(pair) > 0;
  if (from.identity.name > to.identity.name) {
    if (were_apart) over_since_[pair] = now();
    return were_apart;
  }
  const auto told = over_since_.extract(pair);
  return told.empty() || now() - told.mapped() > lasted;  // else that was this loss
}

void CoordinatorActor::on(LinkPace pace) {
  const bool by_launcher = sender().process == kLauncherProcess;
  if (!by_launcher && !from_node()) return;
  if (by_launcher) pace.from = kLauncherProcess;
  const Member* from = find(pace.from);
  const Member* to = find(pace.to);
  if (stopping_ || from == nullptr || to == nullptr || from == to) return;
  if (!by_launcher && from->node != sender().process) {
    process().blame_sender("it speaks for a process that is not its own");
    return;
  }
  pace.from_name = from->identity.name;
  pace.from_host = from->host;
  pace.to_name = to->identity.name;
  pace.to_host = to->host;
  tell(agent_of<LauncherControl>(kLauncherProcess), std::move(pace));
}

/// How many do not reach it.
std::size_t CoordinatorActor::apart_from(ProcessId process) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      apart_, [&](const auto& pair) { return pair.first == process || pair.second == process; }));
}

Task<void> CoordinatorActor::condemn(ProcessId process_id, std::string cause, bool at_once) {
  Member* member = find_live(process_id);
  if (member == nullptr) co_return;
  member->condemned = true;
  member->at_fault = at_once;
  member->cause = cause;
  note_member(*member);
  Task<void> kept = journaled();
  co_await kept;
  Task<bool> ended = order_end(process_id, std::move(cause), at_once);
  (void)co_await ended;
}

Task<bool> CoordinatorActor::order_end(ProcessId process_id, std::string cause, bool at_once) {
  while (!stopping_) {
    const Member* member = find_live(process_id);
    const Member* node = member == nullptr ? nullptr : find_live(member->node);
    if (node == nullptr) co_return false;
    EndProcess order{process_id, cause, at_once};
    Future<Ending> answer = ask(agent_of<Node>(node->process), std::move(order), kControlDeadline);
    const Result<Ending> ending = co_await answer;
    if (ending) co_return ending->there;
    co_await sleep(self_.heartbeat / 2);
  }
  co_return false;
}

/// Whom most of the others do not reach: more of them need not be lost to know.
bool CoordinatorActor::is_alone(ProcessId process) const {
  const auto others = std::ranges::count_if(members_, [&](const auto& one) {
    const Member& member = one.second;
    return member.kind == ProcessKind::ACTOR && member.state == State::READY &&
           member.process != process;
  });
  const std::size_t apart = apart_from(process);
  return apart > 1 && 2 * apart > static_cast<std::size_t>(others);
}

/// Both ends tell of a lost link. One that only lost it waits whether the other, or a node, knows
/// more. If nobody does, the only one that could be started again goes, unless most do not reach
/// the other one; of two that are equal in that the one whom more do not reach, else the one that
/// was told of first.
Task<void> CoordinatorActor::suspect(ProcessId reporter, ProcessId peer, std::string cause) {
  const bool bare = cause.ends_with(kConnectionLost) || cause.ends_with(kGoodbye) ||
                    cause.ends_with(kHandshakeFailed);
  if (bare) co_await sleep(kLinksCauseFollows);
  // Where we follow one that was lost, the nodes tell of deaths and of links in no order.
  while (!resuming_.empty() || (resumed_at_ && now() - *resumed_at_ < kLinksCauseFollows)) {
    co_await sleep(self_.heartbeat / 2);
  }
  Member* from = find(reporter);
  Member* member = find_live(peer);
  if (stopping_ || member == nullptr || member->condemned) co_return;
  if (from != nullptr && (from->condemned || from->state == State::DEAD)) co_return;
  const std::string who = from == nullptr ? "somebody" : from->identity.name;
  log(who + " reports about " + member->identity.text() + ": " + cause);
  const bool lost = cause.starts_with(kLinkLost) || cause == kSilence || cause.ends_with(kNoAnswer);
  const bool between_actors = lost && from != nullptr && from->kind == ProcessKind::ACTOR;
  bool other_goes = between_actors && apart_from(reporter) > apart_from(peer);
  if (between_actors && may_come_again(*from) != may_come_again(*member)) {
    other_goes = may_come_again(*from) ? !is_alone(peer) : is_alone(reporter);
  }
  if (other_goes) {
    Task<void> ended =
        condemn(reporter, "its link with " + member->identity.name + " ended: " + cause, false);
    co_await ended;
  } else {
    Task<void> ended = condemn(peer, "its link with " + who + " ended: " + cause, false);
    co_await ended;
  }
}

void CoordinatorActor::link_ended(const Contact& peer, const std::string& cause, bool fault) {
  if (peer.process == kLauncherProcess.value) {
    const std::string why = "the link to the launcher ended: " + cause;
    const bool followed = !self_.successors.empty() && !stopping_ && cause != kSilence;
    if (!followed) return lease_lost(why);
    // If it lives it ends us and has another one go on; if not, the kernel says so.
    log(why);
    run(left_alone(why));
    return;
  }
  Member* member = find({peer.process});
  if (member == nullptr || resuming_.contains(member->process)) return;
  // While we stood still it has given the old session up, and dials again.
  const bool lives = cause.ends_with(kSessionOver) || cause.ends_with(kNewSession);
  if (lives && !fault && !stopping_ && !self_.successors.empty() && member->state == State::READY) {
    resuming_.insert(member->process);
    run(resuming(member->process, false));
    return;
  }
  ProcessDown down;
  down.wanted = stopping_;
  down.cause = stopping_ ? "it stopped" : cause == kSilence ? silence_text(self_.silence) : cause;
  if (member->kind == ProcessKind::NODE && member->condemned && drained_.contains(member->host)) {
    down.cause = kHostDrained;
    down.wanted = true;
  }
  mark_dead(*member, down);
}

void CoordinatorActor::on(StatusReport report) {
  if (!from_node()) return;
  for (const ProcessStatus& status : report.processes) {
    Member* member = find_live(status.process);
    const bool its_own = member != nullptr &&
                         (member->process == sender().process || member->node == sender().process);
    if (its_own) member->status = status;
  }
  if (process().links()->connected(kLauncherProcess)) {
    tell(agent_of<LauncherControl>(kLauncherProcess), std::move(report));
  }
}

// ---- the end ----

Task<Stopped> CoordinatorActor::stop_nodes(Duration grace) {
  stopping_ = true;
  changed_.notify_all();
  kept_more_.notify_all();
  std::vector<ProcessId> nodes;
  std::vector<Future<Stopped>> answers;
  for (const auto& [id, member] : members_) {
    if (member.kind != ProcessKind::NODE || member.state != State::READY) continue;
    nodes.push_back(id);
    answers.push_back(ask(agent_of<Node>(id), StopAll{grace}, grace + kControlDeadline));
  }
  Stopped total;
  for (Future<Stopped>& answer : answers) {
    const Result<Stopped> stopped = co_await answer;
    if (!stopped) continue;
    total.stopped += stopped->stopped;
    total.killed += stopped->killed;
  }
  stopped_ = total;
  changed_.notify_all();
  for (const ProcessId node : nodes) tell(agent_of<Node>(node), Stop{});
  // They have heard it when their links end; then we may end too.
  const Time deadline = now() + kNodeEnds;
  const auto gone = [this](ProcessId node) { return find_live(node) == nullptr; };
  while (!std::all_of(nodes.begin(), nodes.end(), gone) && now() < deadline) {
    co_await wait_for(changed_, process().timers(), deadline);
  }
  co_return total;
}

Task<Result<Stopped>> CoordinatorActor::on(Shutdown shutdown) {
  STERNA_CO_TRY(from_launcher());
  if (stopped_) co_return *stopped_;  // and the nodes have been told to end
  co_return co_await stop_nodes(shutdown.grace);
}

void CoordinatorActor::on(Stop) {
  if (from_launcher()) end_process_(0, "");
}

Task<void> CoordinatorActor::left_alone(std::string why) {
  co_await sleep(self_.lease);
  if (!process().links()->connected(kLauncherProcess)) lease_lost(why);
}

void CoordinatorActor::lease_lost(const std::string& cause) {
  if (std::exchange(ending_, true)) return;
  run(ending(cause));
}

Task<void> CoordinatorActor::ending(std::string cause) {
  log("ending the run: " + cause);
  (void)co_await stop_nodes(Duration::zero());
  // Our end ends the nodes' leases too, should a Stop not have reached them.
  end_process_(kExitLostLease, cause);
}

}  // namespace sterna
