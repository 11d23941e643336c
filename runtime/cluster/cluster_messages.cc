#include "runtime/cluster/cluster_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/base/duration_text.h"
#include "runtime/host/bootstrap_fields.h"
#include "runtime/message/fields.h"

namespace sterna {

// ---- asked of the process above ----

STERNA_MESSAGE(Found, FIELD(actor, Actor), FIELD(incarnation, Incarnation))
STERNA_MESSAGE(Find, FIELD(name, Name), FIELD(patience, Deadline))
STERNA_MESSAGE(Connect, FIELD(from, From), FIELD(to, To))
STERNA_MESSAGE(LinkReport, FIELD(from, From), FIELD(peer, Peer), FIELD(cause, Cause),
               FIELD(fault, Fault))
STERNA_MESSAGE(LinkPace, FIELD(from, From), FIELD(to, To), FIELD(from_name, FromName),
               FIELD(to_name, ToName), FIELD(from_host, FromHost), FIELD(to_host, ToHost),
               FIELD(rate, Rate), FIELD(lasts, Lasts), FIELD(over, Over))
STERNA_MESSAGE(LinkTrouble, FIELD(from, From), FIELD(to, To), FIELD(from_name, FromName),
               FIELD(to_name, ToName), FIELD(cause, Cause), FIELD(lasts, Lasts), FIELD(over, Over))
STERNA_MESSAGE(Ready, FIELD(contact, Contact), FIELD(actor, Actor))
STERNA_MESSAGE(Leaving, FIELD(cause, Cause), FIELD(bereft, Bereft), FIELD(unreached, Unreached))

// ---- launcher to coordinator ----

STERNA_MESSAGE(AddNode, FIELD(host, Host), FIELD(network, Network),
               FIELD(log_directory, LogDirectory), FIELD(environment, Environment))
STERNA_FIELDS(RestartBudget, FIELD(times, Times), FIELD(within, Within), FIELD(backoff, Backoff))
STERNA_FIELDS(ActorPlace, FIELD(host, Host), FIELD(args, Args),
              FIELD(compute_threads, ComputeThreads), FIELD(environment, Environment))
STERNA_MESSAGE(AllowFaults)
STERNA_MESSAGE(EndsSoon)
STERNA_MESSAGE(Started, FIELD(process, Process), FIELD(pid, Pid), FIELD(actor, Actor))
STERNA_MESSAGE(StartActor, FIELD(name, Name), FIELD(type, Type), FIELD(args, Args),
               FIELD(host, Host), FIELD(compute_threads, ComputeThreads), FIELD(patience, Deadline),
               FIELD(environment, Environment), FIELD(memory_limit, MemoryLimit),
               FIELD(args_are_json, ArgsAreJson), FIELD(again, Again),
               FIELD(interface_id, Interface), FIELD(restart, Restart),
               FIELD(elsewhere, Elsewhere, at_most(StartActor::kMostPlaces)),
               FIELD(needs_kept, NeedsKept))
STERNA_MESSAGE(Stopped, FIELD(stopped, Stopped), FIELD(killed, Killed))
STERNA_MESSAGE(Shutdown, FIELD(grace, Grace))
STERNA_MESSAGE(Publish, FIELD(name, Name), FIELD(actor, Actor))
STERNA_MESSAGE(AdmitExtra, FIELD(name, Name), FIELD(extra, Extra))

// ---- coordinator to node, node to process ----

STERNA_MESSAGE(Spawned, FIELD(pid, Pid))
STERNA_MESSAGE(StartProcess, FIELD(bootstrap, Bootstrap))
STERNA_MESSAGE(Admit, FIELD(process, Process), FIELD(contact, Contact))
STERNA_MESSAGE(Dial, FIELD(process, Process), FIELD(contact, Contact))
STERNA_MESSAGE(EndProcess, FIELD(process, Process), FIELD(cause, Cause), FIELD(at_once, AtOnce))
STERNA_MESSAGE(Ending, FIELD(there, There))
STERNA_MESSAGE(Sought, FIELD(began, Began), FIELD(pid, Pid))
STERNA_MESSAGE(SeekProcess, FIELD(process, Process))
STERNA_MESSAGE(Resume, FIELD(contact, Contact), FIELD(successors, Successors))
STERNA_MESSAGE(Strike, FIELD(process, Process), FIELD(kind, Kind), FIELD(lasts, Lasts),
               FIELD(by, By))
STERNA_MESSAGE(StopAll, FIELD(grace, Grace))
STERNA_MESSAGE(Stop)
STERNA_MESSAGE(Renew)
STERNA_MESSAGE(FilePiece, FIELD(size, Size), FIELD(bytes, Bytes))
STERNA_MESSAGE(ReadFile, FIELD(process, Process), FIELD(name, Name), FIELD(offset, Offset),
               FIELD(limit, Limit))
STERNA_MESSAGE(KeptPiece, FIELD(size, Size), FIELD(bytes, Bytes))
STERNA_MESSAGE(ReadKept, FIELD(actor, Actor), FIELD(offset, Offset))
STERNA_MESSAGE(WriteKept, FIELD(actor, Actor), FIELD(offset, Offset), FIELD(size, Size),
               FIELD(bytes, Bytes))
STERNA_MESSAGE(ForgetKept, FIELD(actor, Actor))
STERNA_MESSAGE(Inspection, FIELD(authentication_denials, AuthenticationDenials),
               FIELD(handshake_failures, HandshakeFailures), FIELD(disconnects, Disconnects),
               FIELD(muted_messages, MutedMessages), FIELD(decode_errors, DecodeErrors),
               FIELD(refused_hellos, RefusedHellos), FIELD(sequence_gaps, SequenceGaps),
               FIELD(faults, Faults), FIELD(open_links, OpenLinks))
STERNA_MESSAGE(Inspect, FIELD(process, Process))

// ---- what happened ----

STERNA_MESSAGE(ProcessDown, FIELD(process, Process), FIELD(identity.name, Name),
               FIELD(identity.incarnation, Incarnation), FIELD(host, Host),
               FIELD(exit_code, ExitCode), FIELD(signal, Signal), FIELD(cause, Cause),
               FIELD(last_lines, LastLines), FIELD(consequence, Consequence), FIELD(wanted, Wanted),
               FIELD(unreached, Unreached))
STERNA_MESSAGE(ProcessRestarts, FIELD(down, Down), FIELD(host, Host))
STERNA_FIELDS(ProcessStatus, FIELD(process, Process), FIELD(identity.name, Name),
              FIELD(identity.incarnation, Incarnation), FIELD(host, Host), FIELD(pid, Pid),
              FIELD(state, State), FIELD(resident_bytes, ResidentBytes),
              FIELD(loop_lag, LoopLag, any_time), FIELD(queued_bytes, QueuedBytes),
              FIELD(bytes_in, BytesIn), FIELD(bytes_out, BytesOut), FIELD(actors, Actors),
              FIELD(comes_again, ComesAgain))
STERNA_MESSAGE(StatusReport, FIELD(processes, Processes))

// ---- who looks at a run from outside ----

STERNA_MESSAGE(Overview, FIELD(run, Run), FIELD(name, Name), FIELD(stopping, Stopping),
               FIELD(members, Members), FIELD(report, Report), FIELD(faults_allowed, FaultsAllowed))
STERNA_MESSAGE(Look)
STERNA_MESSAGE(EndRun, FIELD(cause, Cause))
STERNA_MESSAGE(Moved, FIELD(moved, Moved))
STERNA_MESSAGE(Drain, FIELD(host, Host), FIELD(within, Within))
STERNA_MESSAGE(Move, FIELD(actor, Actor, not_empty), FIELD(host, Host, not_empty),
               FIELD(within, Within))
STERNA_MESSAGE(AddHost, FIELD(host, Host, not_empty), FIELD(within, Within))
STERNA_MESSAGE(StartNode, FIELD(host, Host), FIELD(within, Within))
STERNA_MESSAGE(RunEnds, FIELD(cause, Cause))
STERNA_MESSAGE(Report, FIELD(text, Text))
STERNA_MESSAGE(InjectFault, FIELD(name, Name, not_empty), FIELD(kind, Kind), FIELD(lasts, Lasts),
               FIELD(reason, Reason, at_most(InjectFault::kLongestReason)), FIELD(by, By))
STERNA_MESSAGE(FaultInjected, FIELD(identity.name, Name), FIELD(identity.incarnation, Incarnation),
               FIELD(kind, Kind), FIELD(lasts, Lasts), FIELD(reason, Reason), FIELD(by, By))

// ---- what the coordinator has its owner keep ----

STERNA_MESSAGE(Note, FIELD(entries, Entries), FIELD(number, Number))
STERNA_MESSAGE(MemberNote, FIELD(kind, Kind), FIELD(node, Node), FIELD(network, Network),
               FIELD(log_directory, LogDirectory), FIELD(environment, Environment),
               FIELD(state, State), FIELD(contact, Contact), FIELD(actor, Actor),
               FIELD(condemned, Condemned), FIELD(at_fault, AtFault), FIELD(cause, Cause),
               FIELD(down, Down), FIELD(died, Died, any_time))
STERNA_FIELDS(PastRestart, FIELD(at, At, any_time), FIELD(cause, Cause))
STERNA_MESSAGE(OriginNote, FIELD(name, Name), FIELD(hosts, Hosts), FIELD(lost_here, LostHere),
               FIELD(restarts, Restarts), FIELD(under_way, UnderWay),
               FIELD(ordered_away, OrderedAway), FIELD(kept_by, KeptBy))
STERNA_MESSAGE(NameNote, FIELD(name, Name), FIELD(incarnation, Incarnation))

namespace {
constexpr std::array<std::string_view, 6> kFaultKinds = {"kill",  "stop", "cut",
                                                         "delay", "drop", "device_fault"};
}  // namespace

std::string_view name_of(FaultKind kind) { return kFaultKinds.at(static_cast<std::size_t>(kind)); }

std::optional<FaultKind> fault_kind(std::string_view name) {
  const auto found = std::ranges::find(kFaultKinds, name);
  if (found == kFaultKinds.end()) return std::nullopt;
  return static_cast<FaultKind>(found - kFaultKinds.begin());
}

bool may_last(FaultKind kind) { return kind == FaultKind::STOP || must_last(kind); }
bool must_last(FaultKind kind) { return kind == FaultKind::DELAY || kind == FaultKind::DROP; }

std::vector<std::string_view> fault_kinds() { return {kFaultKinds.begin(), kFaultKinds.end()}; }

std::uint64_t StartActor::bytes() const {
  constexpr std::uint64_t kSmall = 512;  // what is not counted one by one, in words of 8 bytes
  const auto of = [](const Bytes& told, const std::vector<std::string>& variables) {
    std::uint64_t sum = kSmall + told.size();
    for (const std::string& variable : variables) sum += variable.size() + 2 * sizeof(sum);
    return sum;
  };
  std::uint64_t sum = of(args, environment) + name.size() + type.size() + host.size();
  for (const ActorPlace& place : elsewhere) {
    sum += of(place.args, place.environment) + place.host.size();
  }
  return sum;
}

Duration RestartBudget::pause_before(std::size_t restart, Duration longest) const {
  Duration pause = backoff;
  for (std::size_t i = 1; i < restart && pause < longest; ++i) pause *= 2;
  return std::min(pause, std::max(backoff, longest));
}

std::string RestartBudget::used_up_by(std::size_t restarts, const std::string& first_cause) const {
  return fmt::format(" (after {} within {}; first lost: {})",
                     restarts == 1 ? "1 restart of it" : fmt::format("{} restarts of it", restarts),
                     duration_text(within), first_cause);
}

std::string ProcessDown::full_cause() const {
  std::string text = cause;
  for (std::size_t i = 0; i < last_lines.size(); ++i) {
    text += (i == 0 ? "; it logged last: " : " | ") + last_lines[i];
  }
  return text;
}

}  // namespace sterna
