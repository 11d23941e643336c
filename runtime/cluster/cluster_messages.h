// The messages by which a run's processes are started, introduced, watched and stopped, and the
// interfaces of the four kinds of process:
//
//   launcher ──▶ coordinator ◀── node ◀── actor      (who dials whom; the tree)
//   operator ──▶                                     (looks at a run from outside, and ends it)
//
// In every process the first actor, kAgent, is the one that speaks for it.
#pragma once

#include <string>
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
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Found> decode(Wire::Reader wire, WireReader& reader);
};
/// Answers when the named actor is ready; fails if it is dead, or not there within `patience`.
struct Find {
  using Wire = schema::Find;
  using Reply = Found;
  std::string name;
  Duration patience{};
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Find> decode(Wire::Reader wire, WireReader& reader);
};
/// "Bring me together with that process": answered once the one who dials has been told to.
struct Connect {
  using Wire = schema::Connect;
  using Reply = void;
  ProcessId from;
  ProcessId to;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Connect> decode(Wire::Reader wire, WireReader& reader);
};
/// A link of the reporter's has ended, or its peer broke the rules (`fault`).
struct LinkReport {
  using Wire = schema::LinkReport;
  ProcessId from;
  Contact peer;
  std::string cause;
  bool fault = false;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<LinkReport> decode(Wire::Reader wire, WireReader& reader);
};
/// The process listens, and its actor runs.
struct Ready {
  using Wire = schema::Ready;
  using Reply = void;
  Contact contact;
  AnyRef actor;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Ready> decode(Wire::Reader wire, WireReader& reader);
};
/// The last words of a process whose actor has ended.
struct Leaving {
  using Wire = schema::Leaving;
  using Reply = void;
  std::string cause;    ///< empty: it stopped as it should
  bool bereft = false;  ///< it had lost the link to another, whose end is then the cause of this
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Leaving> decode(Wire::Reader wire, WireReader& reader);
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
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<AddNode> decode(Wire::Reader wire, WireReader& reader);
};
struct Started {
  using Wire = schema::Started;
  ProcessId process;
  std::int64_t pid = 0;
  AnyRef actor;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Started> decode(Wire::Reader wire, WireReader& reader);
};
/// Starts an actor in a process of its own; answered when it is ready, or why it is not.
struct StartActor {
  using Wire = schema::StartActor;
  using Reply = Started;
  std::string name;
  std::string type;
  Bytes args;        ///< pack()ed
  std::string host;  ///< empty: the first host
  std::uint32_t compute_threads = 1;
  Duration patience{};
  std::vector<std::string> environment;  ///< "NAME=value", after the host's
  std::uint64_t memory_limit = 0;        ///< resident bytes; 0: none
  bool args_are_json = false;            ///< args is an object of keys and values
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<StartActor> decode(Wire::Reader wire, WireReader& reader);
};
struct Stopped {
  using Wire = schema::Stopped;
  std::uint32_t stopped = 0;  ///< ended by themselves
  std::uint32_t killed = 0;   ///< had to be killed
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Stopped> decode(Wire::Reader wire, WireReader& reader);
};
/// Stops every actor's process, and then the nodes.
struct Shutdown {
  using Wire = schema::Shutdown;
  using Reply = Stopped;
  Duration grace{};
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Shutdown> decode(Wire::Reader wire, WireReader& reader);
};
/// Gives an actor of the launcher's own a name in the directory.
struct Publish {
  using Wire = schema::Publish;
  using Reply = void;
  std::string name;
  AnyRef actor;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Publish> decode(Wire::Reader wire, WireReader& reader);
};
/// Lets a peer that is no part of the run dial the named process (tests, tools); answered with
/// where.
struct AdmitExtra {
  using Wire = schema::AdmitExtra;
  using Reply = PeerContact;
  std::string name;
  Contact extra;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<AdmitExtra> decode(Wire::Reader wire, WireReader& reader);
};

// ---- coordinator to node, node to process ----

struct Spawned {
  using Wire = schema::Spawned;
  std::int64_t pid = 0;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Spawned> decode(Wire::Reader wire, WireReader& reader);
};
struct StartProcess {
  using Wire = schema::StartProcess;
  using Reply = Spawned;
  Bootstrap bootstrap;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<StartProcess> decode(Wire::Reader wire, WireReader& reader);
};
struct Admit {
  using Wire = schema::Admit;
  using Reply = void;
  ProcessId process;  ///< who shall let `contact` in when it dials
  Contact contact;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Admit> decode(Wire::Reader wire, WireReader& reader);
};
struct Dial {
  using Wire = schema::Dial;
  using Reply = void;
  ProcessId process;  ///< who shall open a link to `contact`
  Contact contact;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Dial> decode(Wire::Reader wire, WireReader& reader);
};
/// The coordinator holds the process for dead. At once: it broke the rules. Otherwise a peer lost
/// it, and its exit, which says more, is about to be seen.
struct EndProcess {
  using Wire = schema::EndProcess;
  ProcessId process;
  std::string cause;
  bool at_once = false;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<EndProcess> decode(Wire::Reader wire, WireReader& reader);
};
/// Answered when no process of the node's is left.
struct StopAll {
  using Wire = schema::StopAll;
  using Reply = Stopped;
  Duration grace{};
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<StopAll> decode(Wire::Reader wire, WireReader& reader);
};
/// To an actor's process: ask its actors to stop. To a node or coordinator: end.
struct Stop {
  using Wire = schema::Stop;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Stop> decode(Wire::Reader wire, WireReader& reader);
};
/// From the coordinator: the node's lease begins anew.
struct Renew {
  using Wire = schema::Renew;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Renew> decode(Wire::Reader wire, WireReader& reader);
};
struct FilePiece {
  using Wire = schema::FilePiece;
  std::uint64_t size = 0;  ///< of the whole file, now
  Bytes bytes;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<FilePiece> decode(Wire::Reader wire, WireReader& reader);
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
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<ReadFile> decode(Wire::Reader wire, WireReader& reader);
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
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Inspection> decode(Wire::Reader wire, WireReader& reader);
};
struct Inspect {
  using Wire = schema::Inspect;
  using Reply = Inspection;
  ProcessId process;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Inspect> decode(Wire::Reader wire, WireReader& reader);
};

// ---- what happened ----

/// The death of a process, as its node (of a node: its starter) saw it.
struct ProcessDown {
  using Wire = schema::ProcessDown;
  ProcessId process;
  PeerIdentity identity;
  int exit_code = -1;
  int signal = 0;
  std::string cause;
  std::vector<std::string> last_lines;  ///< of its log, oldest first
  bool consequence = false;             ///< of another death: its node's
  bool wanted = false;  ///< it was asked to stop, or its actor stopped by itself without an error

  /// For those who watch its actors: the cause, and what it logged last.
  std::string full_cause() const;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<ProcessDown> decode(Wire::Reader wire, WireReader& reader);
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
};
struct StatusReport {
  using Wire = schema::StatusReport;
  std::vector<ProcessStatus> processes;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<StatusReport> decode(Wire::Reader wire, WireReader& reader);
};

// ---- who looks at a run from outside ----

struct Overview {
  using Wire = schema::Overview;
  std::uint64_t run = 0;
  std::string name;
  bool stopping = false;
  std::vector<ProcessStatus> members;
  Bytes report;  ///< what the launcher last said of the run
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Overview> decode(Wire::Reader wire, WireReader& reader);
};
struct Look {
  using Wire = schema::Look;
  using Reply = Overview;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Look> decode(Wire::Reader wire, WireReader& reader);
};
/// The launcher is asked to end the run, and does so in its own way; answered when all actors have
/// stopped.
struct EndRun {
  using Wire = schema::EndRun;
  using Reply = Stopped;
  std::string cause;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<EndRun> decode(Wire::Reader wire, WireReader& reader);
};
/// What the launcher has to say of the run, for those who look.
struct Report {
  using Wire = schema::Report;
  Bytes text;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<Report> decode(Wire::Reader wire, WireReader& reader);
};
/// The coordinator's order to the launcher, on an operator's word.
struct RunEnds {
  using Wire = schema::RunEnds;
  std::string cause;
  void encode(Wire::Builder wire, WireWriter& writer) const;
  static Result<RunEnds> decode(Wire::Reader wire, WireReader& reader);
};

// ---- who accepts what ----

/// What any process may ask of the one above it.
struct Agent : Interface<Find, Connect, LinkReport> {};
struct Coordinator
    : Interface<Find, Connect, LinkReport, Ready, ProcessDown, StatusReport, AddNode, StartActor,
                Shutdown, Publish, AdmitExtra, Inspect, Stop, Report, Look, EndRun, ReadFile> {};
struct Node : Interface<Find, Connect, LinkReport, Ready, Leaving, ProcessDown, StartProcess, Admit,
                        Dial, EndProcess, StopAll, Inspect, Stop, Renew, ReadFile> {};
struct Control : Interface<Admit, Dial, ProcessDown, Stop, Inspect> {};
struct LauncherControl : Interface<Admit, Dial, ProcessDown, StatusReport, Inspect, RunEnds> {};
/// Of one who only looks.
struct OperatorControl : Interface<Inspect> {};

/// The agent of a process, as one that accepts I.
template <class I>
ActorRef<I> agent_of(ProcessId process) {
  return {{process, kAgent}};
}

}  // namespace sterna
