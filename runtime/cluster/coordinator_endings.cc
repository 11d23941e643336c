// CoordinatorActor: who has died and why, and the end of the run.
#include <algorithm>
#include <vector>

#include "runtime/actor/wait_for.h"
#include "runtime/cluster/coordinator.h"

namespace sterna {

namespace {

/// Peers that are no part of the run are each told of once in the log; so many at most.
constexpr std::size_t kMostStrangers = 1024;
/// A node that is told to stop has nothing left to do.
constexpr Duration kNodeEnds = std::chrono::seconds(1);
/// How the cause of an end begins where nobody did anything wrong (runtime/link).
constexpr std::string_view kLinkLost = "link lost";
/// How long after the loss of a link its cause may be told, by the other end or by a node.
constexpr Duration kLinksCauseFollows = std::chrono::milliseconds(500);

}  // namespace

// ---- deaths ----

template <class M>
void CoordinatorActor::tell_all(const M& message) {
  for (const auto& [id, member] : members_) {
    if (member.kind == ProcessKind::NODE && member.state == State::ready) {
      tell(agent_of<Node>(id), message);
    } else if (member.kind == ProcessKind::LAUNCHER && member.state == State::ready) {
      tell(agent_of<LauncherControl>(id), message);
    }
  }
}

void CoordinatorActor::mark_dead(Member& member, ProcessDown down) {
  if (member.state == State::dead) return;
  down.process = member.process;
  down.identity = member.identity;
  down.host = member.host;
  down.wanted = down.wanted || stopping_;
  const bool was_ready = member.state == State::ready;
  member.state = State::dead;
  std::erase_if(apart_, [&](const auto& pair) {
    return pair.first == member.process || pair.second == member.process;
  });
  const bool again = starts_again(member, was_ready, down);
  member.cause = down.full_cause();
  member.done = down.wanted;
  log(member.identity.text() + (down.wanted ? " has ended: " : " is dead: ") + down.cause);
  if (again) {
    tell_all(ProcessRestarts{down, origins_.at(member.identity.name).start.host});
  } else {
    tell_all(down);
  }
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

void CoordinatorActor::on(ProcessDown down) {
  if (!from_node()) return;
  Member* member = find(down.process);
  if (member != nullptr && member->node == sender().process) mark_dead(*member, std::move(down));
}

void CoordinatorActor::on(LinkReport report) {
  const bool by_launcher = sender().process == kLauncherProcess;
  if (!by_launcher && !from_node()) return;
  Member* peer = find({report.peer.process});
  if (stopping_ || (peer != nullptr && peer->state == State::dead)) return;
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
    return;
  }
  if (report.fault) {
    log(line);
    condemn(*peer, report.cause, true);
  } else {
    run(suspect(from == nullptr ? ProcessId{} : from->process, peer->process, report.cause));
  }
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
  // Of two ends one may have told already: that it lasts, and, the one who dialled, that it is
  // over.
  const bool dialled = from->identity.name < to->identity.name;
  const bool news = trouble.over ? apart_.erase(pair) > 0 || dialled : apart_.insert(pair).second;
  if (!news) return;
  trouble.from_name = from->identity.name;
  trouble.to_name = to->identity.name;
  tell(agent_of<LauncherControl>(kLauncherProcess), std::move(trouble));
}

/// How many do not reach it.
std::size_t CoordinatorActor::apart_from(ProcessId process) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      apart_, [&](const auto& pair) { return pair.first == process || pair.second == process; }));
}

void CoordinatorActor::condemn(Member& member, const std::string& cause, bool at_once) {
  member.condemned = true;
  member.at_fault = at_once;
  member.cause = cause;
  tell(agent_of<Node>(member.node), EndProcess{member.process, cause, at_once});
}

/// Both ends tell of a lost link. One that only lost it waits whether the other, or a node, knows
/// more. If nobody does, the one whom more others do not reach goes; of two that are equal in that
/// the only one that could be started again, else the one that was told of first.
Task<void> CoordinatorActor::suspect(ProcessId reporter, ProcessId peer, std::string cause) {
  if (cause.ends_with(kConnectionLost)) co_await sleep(kLinksCauseFollows);
  Member* from = find(reporter);
  Member* member = find_live(peer);
  if (stopping_ || member == nullptr || member->condemned) co_return;
  if (from != nullptr && (from->condemned || from->state == State::dead)) co_return;
  const std::string who = from == nullptr ? "somebody" : from->identity.name;
  log(who + " reports about " + member->identity.text() + ": " + cause);
  const bool lost = cause.starts_with(kLinkLost) || cause == kSilence;
  const std::size_t of_member = apart_from(peer);
  const std::size_t of_from = apart_from(reporter);
  const bool equal_and_cheaper =
      of_from == of_member && from != nullptr && may_come_again(*from) && !may_come_again(*member);
  if (lost && from != nullptr && from->kind == ProcessKind::ACTOR &&
      (of_from > of_member || equal_and_cheaper)) {
    condemn(*from, "its link with " + member->identity.name + " ended: " + cause, false);
  } else {
    condemn(*member, "its link with " + who + " ended: " + cause, false);
  }
}

void CoordinatorActor::link_ended(const Contact& peer, const std::string& cause, bool) {
  if (peer.process == kLauncherProcess.value) {
    lease_lost("the link to the launcher ended: " + cause);
    return;
  }
  Member* member = find({peer.process});
  if (member == nullptr) return;
  ProcessDown down;
  down.wanted = stopping_;
  down.cause = stopping_ ? "it stopped" : cause == kSilence ? silence_text(self_.silence) : cause;
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
  std::vector<ProcessId> nodes;
  std::vector<Future<Stopped>> answers;
  for (const auto& [id, member] : members_) {
    if (member.kind != ProcessKind::NODE || member.state != State::ready) continue;
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
  co_return co_await stop_nodes(shutdown.grace);
}

void CoordinatorActor::on(Stop) {
  if (from_launcher()) end_process_(0, "");
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
