// The messages by which a run's processes are started, introduced, watched and stopped, and the
// interfaces of the four kinds of process:
//
//   launcher ──▶ coordinator ◀── node ◀── actor      (who dials whom; the tree)
//   operator ──▶                                     (looks at a run from outside, and ends it)
//
// In every process the first actor, kAgent, is the one that speaks for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/cluster/cluster.capnp.h"
#include "runtime/host/bootstrap.h"
#include "runtime/message/actor_ref.h"

namespace sterna {

/// The local id of the first actor of any process (slot 1, generation 1).
constexpr LocalId kAgent{(1ULL << 32) | 1};
/// Two processes of every run exist before there is anyone to issue ids.
constexpr ProcessId kCoordinatorProcess{1};
constexpr ProcessId kLauncherProcess{2};
/// Who looks at the run from outside: so many at once.
constexpr ProcessId kFirstOperator{8};
constexpr std::size_t kOperators = 8;
constexpr std::uint64_t kFirstIssuedProcess = 16;

/// How long a question between the runtime's own actors may take beyond what it waits for: they
/// never block, so who is late for so long is about to be declared silent.
constexpr Duration kControlDeadline = std::chrono::seconds(5);

// ---- asked of the process above ----

struct Found {
  using Wire = schema::Found;
  AnyRef actor;
  std::uint64_t incarnation = 0;
  STERNA_DECLARE_MESSAGE(Found);
};
/// Answers when the named actor is ready, or its next incarnation where it is being started again;
/// fails if it is dead, or not there within `patience`.
struct Find {
  using Wire = schema::Find;
  using Reply = Found;
  std::string name;
  Duration patience{};
  STERNA_DECLARE_MESSAGE(Find);
};
/// "Bring me together with that process": answered once the one who dials has been told to.
struct Connect {
  using Wire = schema::Connect;
  using Reply = void;
  ProcessId from;
  ProcessId to;
  STERNA_DECLARE_MESSAGE(Connect);
};
/// A link of the reporter's has ended, or its peer broke the rules (`fault`).
struct LinkReport {
  using Wire = schema::LinkReport;
  using Reply = void;
  ProcessId from;
  Contact peer;
  std::string cause;
  bool fault = false;
  STERNA_DECLARE_MESSAGE(LinkReport);
};
/// Two processes do not reach each other, and dial; or they do again.
struct LinkTrouble {
  using Wire = schema::LinkTrouble;
  using Reply = void;
  ProcessId from;
  ProcessId to;
  std::string from_name;  ///< the coordinator knows both
  std::string to_name;
  std::string cause;
  Duration lasts{};  ///< since the connection was lost
  bool over = false;
  STERNA_DECLARE_MESSAGE(LinkTrouble);
};
/// What one process sends to another goes slower than the run's file wants to hear of; or does no
/// more. Likewise to who is above, and from the coordinator to the launcher.
struct LinkPace {
  using Wire = schema::LinkPace;
  using Reply = void;
  ProcessId from;  ///< who sends
  ProcessId to;
  std::string from_name;  ///< the coordinator knows these
  std::string to_name;
  std::string from_host;
  std::string to_host;
  std::uint64_t rate = 0;  ///< bytes a second, at most
  Duration lasts{};        ///< so far
  bool over = false;
  STERNA_DECLARE_MESSAGE(LinkPace);
};
/// The process listens, and its actor runs.
struct Ready {
  using Wire = schema::Ready;
  using Reply = void;
  Contact contact;
  AnyRef actor;
  STERNA_DECLARE_MESSAGE(Ready);
};
/// The last words of a process whose actor has ended.
struct Leaving {
  using Wire = schema::Leaving;
  using Reply = void;
  std::string cause;       ///< empty: it stopped as it should
  bool bereft = false;     ///< it had lost the link to another, whose end is then the cause of this
  bool unreached = false;  ///< only the link: of nobody's end it has heard
  STERNA_DECLARE_MESSAGE(Leaving);
};

// ---- launcher to coordinator ----

/// Issues a node; answered with what to start it with.
struct AddNode {
  using Wire = schema::AddNode;
  using Reply = Bootstrap;
  std::string host;
  NetworkOptions network;     ///< of the host's processes
  std::string log_directory;  ///< on that host
  std::vector<std::string> environment;
  STERNA_DECLARE_MESSAGE(AddNode);
};
struct Started {
  using Wire = schema::Started;
  ProcessId process;
  std::int64_t pid = 0;
  AnyRef actor;
  STERNA_DECLARE_MESSAGE(Started);
};
/// How often an actor that was lost is started again beside the others. One that failed by itself
/// is not: it would fail again.
struct RestartBudget {
  std::uint32_t times = 0;  ///< in any span of `within`; 0: never
  Duration within = std::chrono::minutes(10);
  /// Before the first restart; twice as long before each that follows, up to 10 s.
  Duration backoff = std::chrono::milliseconds(200);
  bool operator==(const RestartBudget&) const = default;

  /// Before the first, second, ... restart.
  Duration pause_before(std::size_t restart, Duration longest) const;
  /// What is said of one that was lost after so many, which are all that there may be.
  std::string used_up_by(std::size_t restarts, const std::string& first_cause) const;
};
/// Where else an actor may be, and what it is started with there.
struct ActorPlace {
  std::string host;
  Bytes args;  ///< pack()ed
  std::uint32_t compute_threads = 1;
  std::vector<std::string> environment = {};
};
/// Who looks at the run from outside may ask for InjectFault, too.
struct AllowFaults {
  using Wire = schema::AllowFaults;
  STERNA_DECLARE_MESSAGE(AllowFaults);
};
/// The launcher was told to end the run, and does so when it has made a checkpoint: nodes that are
/// told to end meanwhile keep what they have.
struct EndsSoon {
  using Wire = schema::EndsSoon;
  STERNA_DECLARE_MESSAGE(EndsSoon);
};
/// Starts an actor in a process of its own; answered when it is ready, or why it is not. Asked
/// `again` of a coordinator that follows the one that was asked first: what that one has started
/// is not started twice. Errors: invalid_argument, where an actor that may be started again says
/// more than can be kept of it (kMostKept).
struct StartActor {
  using Wire = schema::StartActor;
  using Reply = Started;
  static constexpr Lane kLane = Lane::data;
  /// The first so many of the hosts where else it may be.
  static constexpr std::size_t kMostPlaces = 64;
  /// Bytes: what is kept of it is a frame of its owner's link.
  static constexpr std::uint64_t kMostKept = std::uint64_t{60} << 20;
  std::string name;
  std::string type;
  Bytes args;        ///< pack()ed
  std::string host;  ///< empty: the first host
  std::uint32_t compute_threads = 1;
  Duration patience{};
  std::vector<std::string> environment;  ///< "NAME=value", after the host's
  std::uint64_t memory_limit = 0;        ///< resident bytes; 0: none
  bool args_are_json = false;            ///< args is an object of keys and values
  bool again = false;
  std::uint64_t interface_id = 0;  ///< that it must have; 0: any
  RestartBudget restart = {};
  /// Where it may be once its host is lost, or has lost it twice, or it is to go; the best first.
  std::vector<ActorPlace> elsewhere = {};
  bool needs_kept = false;  ///< not there without what its node keeps for it (KeptMemory)

  /// About what it takes of a link, and of who keeps it: never less.
  std::uint64_t bytes() const;
  STERNA_DECLARE_MESSAGE(StartActor);
};
struct Stopped {
  using Wire = schema::Stopped;
  std::uint32_t stopped = 0;  ///< ended by themselves, or were not yet connected
  std::uint32_t killed = 0;   ///< ended by SIGKILL, whoever sent it
  STERNA_DECLARE_MESSAGE(Stopped);
};
/// Stops every actor's process, and then the nodes.
struct Shutdown {
  using Wire = schema::Shutdown;
  using Reply = Stopped;
  Duration grace{};
  STERNA_DECLARE_MESSAGE(Shutdown);
};
/// Gives an actor of the launcher's own a name in the directory.
struct Publish {
  using Wire = schema::Publish;
  using Reply = void;
  std::string name;
  AnyRef actor;
  STERNA_DECLARE_MESSAGE(Publish);
};
/// Lets a peer that is no part of the run dial the named process (tests, tools); answered with
/// where.
struct AdmitExtra {
  using Wire = schema::AdmitExtra;
  using Reply = PeerContact;
  std::string name;
  Contact extra;
  STERNA_DECLARE_MESSAGE(AdmitExtra);
};

// ---- coordinator to node, node to process ----

struct Spawned {
  using Wire = schema::Spawned;
  std::int64_t pid = 0;
  STERNA_DECLARE_MESSAGE(Spawned);
};
struct StartProcess {
  using Wire = schema::StartProcess;
  using Reply = Spawned;
  Bootstrap bootstrap;
  STERNA_DECLARE_MESSAGE(StartProcess);
};
struct Admit {
  using Wire = schema::Admit;
  using Reply = void;
  ProcessId process;  ///< who shall let `contact` in when it dials
  Contact contact;
  STERNA_DECLARE_MESSAGE(Admit);
};
struct Dial {
  using Wire = schema::Dial;
  using Reply = void;
  ProcessId process;  ///< who shall open a link to `contact`
  Contact contact;
  STERNA_DECLARE_MESSAGE(Dial);
};
struct Ending {
  using Wire = schema::Ending;
  bool there = false;  ///< else the node has told of its end before, or never had it
  STERNA_DECLARE_MESSAGE(Ending);
};
struct Sought {
  using Wire = schema::Sought;
  bool began = false;    ///< else the order to start it never came
  std::int64_t pid = 0;  ///< 0: it has ended since, which is told
  STERNA_DECLARE_MESSAGE(Sought);
};
/// From the coordinator that follows one that was lost: what became of an order to start that one.
struct SeekProcess {
  using Wire = schema::SeekProcess;
  using Reply = Sought;
  ProcessId process;
  STERNA_DECLARE_MESSAGE(SeekProcess);
};
/// From the coordinator that follows one that was lost, as soon as it has dialled: the node's lease
/// begins anew, and what it had to tell is told again.
struct Resume {
  using Wire = schema::Resume;
  using Reply = void;
  Contact contact;                  ///< where it is, should the link be lost
  std::vector<Contact> successors;  ///< its own, by their keys
  STERNA_DECLARE_MESSAGE(Resume);
};
/// The coordinator holds the process for dead. At once: it broke the rules. Otherwise a peer lost
/// it, and its exit, which says more, is about to be seen.
struct EndProcess {
  using Wire = schema::EndProcess;
  using Reply = Ending;
  ProcessId process;
  std::string cause;
  bool at_once = false;
  STERNA_DECLARE_MESSAGE(EndProcess);
};
using schema::FaultKind;
/// "kill", "stop", "cut", "delay", "drop" or "device_fault".
std::string_view name_of(FaultKind kind);
std::optional<FaultKind> fault_kind(std::string_view name);
/// All of them, in the schema's order.
std::vector<std::string_view> fault_kinds();

/// A stop may last, or be for good; what comes to a process is late or lost for some time.
bool may_last(FaultKind kind);
bool must_last(FaultKind kind);
/// By so much comes what is delayed, where nobody says by how much.
constexpr Duration kUsualDelay = std::chrono::milliseconds(200);

/// A fault on purpose, to see what the run does about it: the node kills or stops the process; what
/// happens to its connections, or to what it computes on, the process does by itself. Errors:
/// invalid_argument, where it computes on no device; unavailable, where it has none yet.
struct Strike {
  using Wire = schema::Strike;
  using Reply = void;
  ProcessId process;
  FaultKind kind = FaultKind::KILL;
  Duration lasts{};  ///< if it may; 0 of a stop: it does not go on
  Duration by{};     ///< of a delay: so late comes each message
  STERNA_DECLARE_MESSAGE(Strike);
};
/// Answered when no process of the node's is left.
struct StopAll {
  using Wire = schema::StopAll;
  using Reply = Stopped;
  Duration grace{};
  STERNA_DECLARE_MESSAGE(StopAll);
};
/// To an actor's process: ask its actors to stop. To a node or coordinator: end.
struct Stop {
  using Wire = schema::Stop;
  STERNA_DECLARE_MESSAGE(Stop);
};
/// From a node: its lease shall begin anew, as of now.
struct Renew {
  using Wire = schema::Renew;
  using Reply = void;
  STERNA_DECLARE_MESSAGE(Renew);
};
struct FilePiece {
  using Wire = schema::FilePiece;
  std::uint64_t size = 0;  ///< of the whole file, now
  Bytes bytes;
  STERNA_DECLARE_MESSAGE(FilePiece);
};
/// A piece of a file of the run's folder on the host of `process`: "NAME.log" for its log.
struct ReadFile {
  using Wire = schema::ReadFile;
  using Reply = FilePiece;
  static constexpr std::uint32_t kMost = 1U << 20;
  ProcessId process;
  std::string name;
  std::uint64_t offset = 0;
  std::uint32_t limit = kMost;  ///< bytes
  STERNA_DECLARE_MESSAGE(ReadFile);
};
/// A piece of what a node keeps for an actor that was there (KeptMemory), which goes to another
/// host.
struct KeptPiece {
  using Wire = schema::KeptPiece;
  static constexpr Lane kLane = Lane::data;
  std::uint64_t size = 0;  ///< of all of it; 0: nothing is kept
  Bytes bytes;
  STERNA_DECLARE_MESSAGE(KeptPiece);
};
struct ReadKept {
  using Wire = schema::ReadKept;
  using Reply = KeptPiece;
  static constexpr std::size_t kMost = 1U << 20;  ///< bytes in a piece
  std::string actor;
  std::uint64_t offset = 0;
  STERNA_DECLARE_MESSAGE(ReadKept);
};
/// Such a piece, at another node, before the actor is started there: from offset 0 on, one after
/// the other. With the last they take the place of all that was kept.
struct WriteKept {
  using Wire = schema::WriteKept;
  using Reply = void;
  static constexpr Lane kLane = Lane::data;
  std::string actor;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  ///< of all of it
  Bytes bytes;
  STERNA_DECLARE_MESSAGE(WriteKept);
};
/// It has come elsewhere, or what there is of it is not what is to be kept.
struct ForgetKept {
  using Wire = schema::ForgetKept;
  std::string actor;
  STERNA_DECLARE_MESSAGE(ForgetKept);
};
/// What a process has counted about its peers.
struct Inspection {
  using Wire = schema::Inspection;
  std::uint64_t authentication_denials = 0;
  std::uint64_t handshake_failures = 0;
  std::uint64_t disconnects = 0;
  std::uint64_t muted_messages = 0;
  std::uint64_t decode_errors = 0;
  std::uint64_t refused_hellos = 0;
  std::uint64_t sequence_gaps = 0;
  std::uint64_t faults = 0;
  std::uint64_t open_links = 0;
  STERNA_DECLARE_MESSAGE(Inspection);
};
struct Inspect {
  using Wire = schema::Inspect;
  using Reply = Inspection;
  ProcessId process;
  STERNA_DECLARE_MESSAGE(Inspect);
};

// ---- what happened ----

/// The death of a process, as its node (of a node: its starter) saw it.
struct ProcessDown {
  using Wire = schema::ProcessDown;
  using Reply = void;
  ProcessId process;
  PeerIdentity identity;
  std::string host;  ///< the coordinator knows it
  int exit_code = -1;
  int signal = 0;
  std::string cause;
  std::vector<std::string> last_lines;  ///< of its log, oldest first
  bool consequence = false;             ///< of another death: its node's
  bool wanted = false;  ///< it was asked to stop, or its actor stopped by itself without an error
  bool unreached = false;  ///< it failed for want of a link to one of whose end nobody had told it

  /// For those who watch its actors: the cause, and what it logged last.
  std::string full_cause() const;
  STERNA_DECLARE_MESSAGE(ProcessDown);
};
/// In place of ProcessDown, from the coordinator: the actor is started again, in a process that has
/// the same name and the next incarnation, maybe on another host.
struct ProcessRestarts {
  using Wire = schema::ProcessRestarts;
  ProcessDown down;
  std::string host;  ///< where
  STERNA_DECLARE_MESSAGE(ProcessRestarts);
};
struct ProcessStatus {
  ProcessId process;
  PeerIdentity identity;
  std::string host;
  std::int64_t pid = 0;
  std::string state;  ///< starting, running, stopping
  std::uint64_t resident_bytes = 0;
  Duration loop_lag{};
  std::uint64_t queued_bytes = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t actors = 0;
  bool comes_again = false;  ///< from the coordinator: were it lost now, it would be started again
};
struct StatusReport {
  using Wire = schema::StatusReport;
  std::vector<ProcessStatus> processes;
  STERNA_DECLARE_MESSAGE(StatusReport);
};

// ---- who looks at a run from outside ----

struct Overview {
  using Wire = schema::Overview;
  std::uint64_t run = 0;
  std::string name;
  bool stopping = false;
  std::vector<ProcessStatus> members;
  Bytes report;  ///< what the launcher last said of the run
  bool faults_allowed = false;
  STERNA_DECLARE_MESSAGE(Overview);
};
struct Look {
  using Wire = schema::Look;
  using Reply = Overview;
  STERNA_DECLARE_MESSAGE(Look);
};
/// The launcher is asked to end the run, and does so in its own way; answered when all actors have
/// stopped.
struct EndRun {
  using Wire = schema::EndRun;
  using Reply = Stopped;
  std::string cause;
  STERNA_DECLARE_MESSAGE(EndRun);
};
struct Moved {
  using Wire = schema::Moved;
  std::vector<std::string> moved;  ///< actors, and where they are now: "worker1 to c"
  STERNA_DECLARE_MESSAGE(Moved);
};
/// No actor shall be on that host any more: each is ended, and started again on another. Answered
/// when all of them are ready there; the launcher then ends the host's node. Refused, and nothing
/// is done, where one may be nowhere else.
struct Drain {
  using Wire = schema::Drain;
  using Reply = Moved;
  std::string host;
  Duration within{};
  STERNA_DECLARE_MESSAGE(Drain);
};
/// An actor shall be on that host: it is ended, and started again there. Answered when it is ready.
/// Refused, and nothing is done, where it may not be there.
struct Move {
  using Wire = schema::Move;
  using Reply = Moved;
  std::string actor;
  std::string host;
  Duration within{};
  STERNA_DECLARE_MESSAGE(Move);
};
/// A host of the launcher's that is none of the run's (a spare one; one that was lost or drained)
/// shall be one from now on. Answered when its node is ready; where it does not come, the run is as
/// it was.
struct AddHost {
  using Wire = schema::AddHost;
  using Reply = void;
  std::string host;
  Duration within{};
  STERNA_DECLARE_MESSAGE(AddHost);
};
/// The coordinator's order to the launcher, on an operator's word: a node there, and its answer
/// when that one is ready.
struct StartNode {
  using Wire = schema::StartNode;
  using Reply = void;
  std::string host;
  Duration within{};
  STERNA_DECLARE_MESSAGE(StartNode);
};
/// An actor that is ready shall suffer a fault; answered once it does. Permission: the run allows
/// none, but from its launcher.
struct InjectFault {
  using Wire = schema::InjectFault;
  using Reply = void;
  static constexpr std::uint32_t kLongestReason = 256;
  std::string name;
  FaultKind kind = FaultKind::KILL;
  Duration lasts{};    ///< as Strike's
  std::string reason;  ///< who wants it, for the record
  Duration by{};       ///< as Strike's; 0: kUsualDelay
  STERNA_DECLARE_MESSAGE(InjectFault);
};
/// To the launcher: that has been done.
struct FaultInjected {
  using Wire = schema::FaultInjected;
  PeerIdentity identity;
  FaultKind kind = FaultKind::KILL;
  Duration lasts{};
  std::string reason;
  Duration by{};
  STERNA_DECLARE_MESSAGE(FaultInjected);
};
/// What the launcher has to say of the run, for those who look.
struct Report {
  using Wire = schema::Report;
  Bytes text;
  STERNA_DECLARE_MESSAGE(Report);
};
/// The coordinator's order to the launcher, on an operator's word.
struct RunEnds {
  using Wire = schema::RunEnds;
  std::string cause;
  STERNA_DECLARE_MESSAGE(RunEnds);
};

// ---- what the coordinator has its owner keep ----

/// Answered once they are kept, all of them, for the incarnation that follows should this one be
/// lost. Nothing that follows from them is done before. On the data lane: with a host all that was
/// there is noted at once, and what an actor is started from may be large.
struct Note {
  using Wire = schema::Note;
  using Reply = void;
  static constexpr Lane kLane = Lane::data;
  std::vector<JournalEntry> entries;
  std::uint64_t number = 0;  ///< of an incarnation's notes; of a key the highest counts
  STERNA_DECLARE_MESSAGE(Note);
};
using schema::MemberState;
/// A process of the run.
struct MemberNote {
  using Wire = schema::MemberNote;
  ProcessKind kind = ProcessKind::ACTOR;
  ProcessId node;
  NetworkOptions network;
  std::string log_directory;
  std::vector<std::string> environment;
  MemberState state = MemberState::STARTING;
  Contact contact;
  AnyRef actor;
  bool condemned = false;
  bool at_fault = false;
  std::string cause;
  ProcessDown down;  ///< its end, where it is dead; else who it is
  Duration died{};   ///< of the coordinator's clock
  STERNA_DECLARE_MESSAGE(MemberNote);
};
struct PastRestart {
  Duration at{};  ///< of the coordinator's clock
  std::string cause;
};
/// How it stands with an actor that may be started again. From what is noted once, as it was told:
/// its StartActor.
struct OriginNote {
  using Wire = schema::OriginNote;
  std::string name;
  /// Where it is or is started next, and where else it may be, the one to prefer first.
  std::vector<std::string> hosts;
  std::uint32_t lost_here = 0;
  std::vector<PastRestart> restarts;
  bool under_way = false;
  ProcessId ordered_away;
  ProcessId kept_by;
  STERNA_DECLARE_MESSAGE(OriginNote);
};
struct NameNote {
  using Wire = schema::NameNote;
  std::string name;
  std::uint64_t incarnation = 0;  ///< the last that was issued
  STERNA_DECLARE_MESSAGE(NameNote);
};

// ---- who accepts what ----

/// Of those who answer for the run: how they end speaks of whom they were asked about.
template <Message... Messages>
struct AgentInterface : Interface<Messages...> {
  static constexpr bool kSpeaksOfOthers = true;
};
/// What any process may ask of the one above it.
struct Agent : AgentInterface<Find, Connect, LinkReport, LinkTrouble, LinkPace> {};
struct Coordinator
    : AgentInterface<Find, Connect, LinkReport, LinkTrouble, LinkPace, Ready, ProcessDown,
                     StatusReport, Renew, AddNode, StartActor, Shutdown, Publish, AdmitExtra,
                     Inspect, Stop, Report, Look, EndRun, ReadFile, Drain, Move, AddHost,
                     AllowFaults, InjectFault, EndsSoon> {};
struct Node
    : AgentInterface<Find, Connect, LinkReport, LinkTrouble, LinkPace, Ready, Leaving, ProcessDown,
                     ProcessRestarts, StartProcess, Admit, Dial, EndProcess, StopAll, Inspect, Stop,
                     ReadFile, Strike, Resume, SeekProcess, ReadKept, WriteKept, ForgetKept> {};
struct Control : AgentInterface<Admit, Dial, ProcessDown, ProcessRestarts, Stop, Inspect, Strike> {
};
struct LauncherControl
    : AgentInterface<Admit, Dial, ProcessDown, ProcessRestarts, StatusReport, Inspect, RunEnds,
                     LinkTrouble, LinkPace, FaultInjected, Note, StartNode> {};
/// Of one who only looks.
struct OperatorControl : AgentInterface<Inspect> {};

/// The agent of a process, as one that accepts I.
template <class I>
ActorRef<I> agent_of(ProcessId process) {
  return {{process, kAgent}};
}

}  // namespace sterna
