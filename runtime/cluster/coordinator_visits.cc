// CoordinatorActor: what the living keep asking for (leases), those who look at the run from
// outside, and the faults that they may inject: its node carries one out, so that nobody needs
// rights on another host.
#include <algorithm>

#include "runtime/actor/wait_for.h"
#include "runtime/cluster/coordinator.h"
#include "runtime/cluster/run_files.h"

namespace sterna {

namespace {
/// What the launcher says of a run is shown, not stored: more is no report.
constexpr std::size_t kLongestReport = 4U << 20;
/// An operator's order to end the run is carried out by the launcher, which may wait for causes.
constexpr Duration kEndingTakes = std::chrono::minutes(2);
}  // namespace

Result<void> CoordinatorActor::on(Renew) {
  STERNA_TRY(from_node());
  Member* node = find_live(sender().process);
  if (node == nullptr) return Error{Errc::unavailable, "the node was given up"};
  node->leased = now();
  return {};
}

Result<void> CoordinatorActor::from_visitor() const {
  const ProcessId asker = sender().process;
  const bool expected =
      std::any_of(self_.operators.begin(), self_.operators.end(),
                  [&](const Contact& visitor) { return visitor.process == asker.value; });
  if (expected) return {};
  return from_launcher();
}

ProcessStatus CoordinatorActor::status_of(const Member& member) const {
  ProcessStatus status = member.status;
  status.process = member.process;
  status.identity = member.identity;
  status.host = member.host;
  status.comes_again = may_come_again(member);
  if (member.state == State::DEAD) {
    status.state = member.done ? "done" : comes_again(member.identity.name) ? "restarting" : "dead";
  } else if (member.state == State::STARTING) {
    status.state = "starting";
  } else if (member.kind == ProcessKind::NODE && drained_.contains(member.host)) {
    status.state = "draining";
  } else if (status.state.empty()) {
    status.state = "running";
  }
  return status;
}

Result<Overview> CoordinatorActor::on(Look) {
  STERNA_TRY(from_visitor());
  Overview overview;
  overview.run = self_.run;
  overview.name = self_.run_name;
  overview.stopping = stopping_;
  overview.report = report_;
  overview.faults_allowed = faults_allowed_;
  ProcessStatus own;
  own.process = process().id();
  own.identity = self_.identity;
  own.host = self_.host;
  own.pid = machine_.pid();
  own.state = "running";
  const LinkStatistics statistics = process().statistics();
  own.resident_bytes = machine_.spawner().resident_bytes(machine_.pid());
  own.queued_bytes = statistics.queued_bytes;
  own.bytes_in = statistics.bytes_in;
  own.bytes_out = statistics.bytes_out;
  own.actors = statistics.actors;
  overview.members.push_back(own);
  for (const auto& [id, member] : members_) {
    // An incarnation that another one followed is none of the run's actors any more.
    const auto latest = names_.find(member.identity.name);
    const bool followed = latest != names_.end() && latest->second != id;
    if (member.kind != ProcessKind::LAUNCHER && !followed) {
      overview.members.push_back(status_of(member));
    }
  }
  return overview;
}

Result<void> CoordinatorActor::on(Report report) {
  STERNA_TRY(from_launcher());
  if (report.text.size() > kLongestReport) {
    return Error{Errc::invalid_argument, "a report of so many bytes is not kept"};
  }
  report_ = std::move(report.text);
  return {};
}

Task<Result<Stopped>> CoordinatorActor::on(EndRun end) {
  STERNA_CO_TRY(from_visitor());
  log("the run shall end: " + end.cause);
  RunEnds order{std::move(end.cause)};
  tell(agent_of<LauncherControl>(kLauncherProcess), std::move(order));
  const Time deadline = now() + kEndingTakes;
  while (!stopped_ && now() < deadline) {
    co_await wait_for(changed_, process().timers(), deadline);
  }
  if (!stopped_) co_return Error{Errc::deadline, "the run does not end"};
  co_return *stopped_;
}

Task<Result<FilePiece>> CoordinatorActor::on(ReadFile question) {
  STERNA_CO_TRY(from_visitor());
  if (question.process == process().id()) {
    co_return read_piece(self_.log_directory, question);
  }
  const Member* member = find(question.process);
  if (member == nullptr) co_return Error{Errc::not_found, "no such process"};
  const ProcessId via = member->kind == ProcessKind::NODE ? member->process : member->node;
  const Member* node = find_live(via);
  if (node == nullptr) {
    co_return Error{Errc::unavailable, "the node of " + member->identity.name + " is gone"};
  }
  const ActorRef<Node> agent = agent_of<Node>(via);
  auto asked = ask(agent, std::move(question), kControlDeadline);
  co_return co_await asked;
}

// ---- faults on purpose ----

void CoordinatorActor::on(AllowFaults) {
  if (from_launcher()) faults_allowed_ = true;
}

void CoordinatorActor::on(EndsSoon) {
  if (from_launcher()) ends_soon_ = true;
}

Task<Result<void>> CoordinatorActor::on(InjectFault fault) {
  const bool by_launcher = sender().process == kLauncherProcess;
  STERNA_CO_TRY(from_visitor());
  // The launcher knows by itself what its file allows.
  if (!by_launcher && !faults_allowed_) {
    co_return Error{Errc::permission, "this run allows no faults on purpose"};
  }
  const std::string kind(name_of(fault.kind));
  const bool lasts = fault.lasts > Duration::zero();
  if (lasts ? !may_last(fault.kind) : must_last(fault.kind)) {
    co_return Error{
        Errc::invalid_argument,
        "a " + kind + (lasts ? " does not last" : " lasts for some time: say how long")};
  }
  if (fault.by > Duration::zero() && fault.kind != FaultKind::DELAY) {
    co_return Error{Errc::invalid_argument, "a " + kind + " comes by nothing"};
  }
  if (stopping_) co_return Error{Errc::unavailable, "the run is stopping"};
  const Member* member = named(fault.name);
  if (member == nullptr) co_return Error{Errc::not_found, why_not(fault.name)};
  if (member->kind != ProcessKind::ACTOR) {
    co_return Error{Errc::invalid_argument, fault.name + " is no actor of the run's"};
  }
  if (member->state != State::READY || member->condemned) {
    co_return Error{Errc::unavailable, member->condemned && member->state != State::DEAD
                                           ? fault.name + " is being ended"
                                           : why_not(fault.name)};
  }
  const PeerIdentity identity = member->identity;
  const ActorRef<Node> agent = agent_of<Node>(member->node);
  if (fault.kind == FaultKind::DELAY && fault.by == Duration::zero()) fault.by = kUsualDelay;
  const Strike strike{member->process, fault.kind, fault.lasts, fault.by};
  log("injecting a fault into " + identity.text() + ": " + kind + ", " + fault.reason);
  auto asked = ask(agent, strike, kControlDeadline);
  const Result<void> struck = co_await asked;
  if (!struck) co_return struck.error();
  tell(agent_of<LauncherControl>(kLauncherProcess),
       FaultInjected{identity, fault.kind, fault.lasts, std::move(fault.reason), fault.by});
  co_return Result<void>{};
}

}  // namespace sterna
