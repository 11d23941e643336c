@0xd2c8a5f0917b3e46;
# How a run's processes are introduced to each other, watched and stopped.

using Cxx = import "/capnp/c++.capnp";
using Bootstrap = import "/runtime/host/bootstrap.capnp";
using Envelope = import "/runtime/message/envelope.capnp";
$Cxx.namespace("sterna::schema");

# ---- asked of the process above ----

struct Find {
  name @0 :Text;
  deadline @1 :Int64;  # nanoseconds to wait for the name to appear
}
struct Found {
  actor @0 :Envelope.ActorAddress;
  incarnation @1 :UInt64;
}
struct Connect {
  from @0 :UInt64;
  to @1 :UInt64;
}
struct LinkReport {
  from @0 :UInt64;
  peer @1 :Bootstrap.Contact;
  cause @2 :Text;
  fault @3 :Bool;
}
# Two processes do not reach each other, and dial; or they do again.
struct LinkTrouble {
  from @0 :UInt64;
  to @1 :UInt64;
  fromName @2 :Text;  # the coordinator knows both
  toName @3 :Text;
  cause @4 :Text;
  lasts @5 :Int64;    # nanoseconds, since the connection was lost
  over @6 :Bool;
}
struct LinkPace {
  from @0 :UInt64;    # who sends
  to @1 :UInt64;
  fromName @2 :Text;  # the coordinator knows these
  toName @3 :Text;
  fromHost @4 :Text;
  toHost @5 :Text;
  rate @6 :UInt64;    # bytes a second, at most
  lasts @7 :Int64;    # nanoseconds, so far
  over @8 :Bool;
}
struct Ready {
  contact @0 :Bootstrap.Contact;
  actor @1 :Envelope.ActorAddress;
}
struct Leaving {
  cause @0 :Text;  # empty: it stopped as it should
  bereft @1 :Bool;
  unreached @2 :Bool;
}

# ---- launcher to coordinator ----

struct AddNode {
  host @0 :Text;
  network @1 :Bootstrap.Network;
  logDirectory @2 :Text;
  environment @3 :List(Text);
}
struct StartActor {
  name @0 :Text;
  type @1 :Text;
  args @2 :Data;
  host @3 :Text;  # empty: the first
  computeThreads @4 :UInt32;
  deadline @5 :Int64;
  environment @6 :List(Text);
  memoryLimit @7 :UInt64;
  argsAreJson @8 :Bool;
  again @9 :Bool;  # an incarnation before may have started it
  interface @10 :UInt64;  # that it must have; 0: any
  restart @11 :RestartBudget;
  elsewhere @12 :List(ActorPlace);  # where else it may be, the one to prefer first
  needsKept @13 :Bool;  # not there without what its node keeps for it
}
struct RestartBudget {
  times @0 :UInt32;    # in any span of `within`
  within @1 :Int64;    # nanoseconds, as backoff
  backoff @2 :Int64;
}
struct ActorPlace {
  host @0 :Text;
  args @1 :Data;
  computeThreads @2 :UInt32;
  environment @3 :List(Text);
}
struct AllowFaults {}  # visitors may ask for InjectFault from now on
struct EndsSoon {}     # no node gives its host back from now on
struct Started {
  process @0 :UInt64;
  pid @1 :Int64;
  actor @2 :Envelope.ActorAddress;
}
struct Shutdown {
  grace @0 :Int64;
}
struct Stopped {
  stopped @0 :UInt32;  # ended by themselves
  killed @1 :UInt32;
}
struct Publish {
  name @0 :Text;
  actor @1 :Envelope.ActorAddress;
}
struct AdmitExtra {
  name @0 :Text;  # who shall let it in
  extra @1 :Bootstrap.Contact;
}

# ---- coordinator to node, node to process ----

struct StartProcess {
  bootstrap @0 :Bootstrap.Bootstrap;
}
struct Spawned {
  pid @0 :Int64;
}
struct Admit {
  process @0 :UInt64;  # who shall do it
  contact @1 :Bootstrap.Contact;
}
struct Dial {
  process @0 :UInt64;
  contact @1 :Bootstrap.Contact;
}
struct EndProcess {
  process @0 :UInt64;
  cause @1 :Text;
  atOnce @2 :Bool;
}
struct Ending {
  there @0 :Bool;      # else the node has told of its end already, or never had it
}
struct SeekProcess {
  process @0 :UInt64;
}
struct Sought {
  began @0 :Bool;      # else the order to start it never came
  pid @1 :Int64;       # 0: it has ended since, which is told
}
# From the coordinator that follows one that was lost.
struct Resume {
  contact @0 :Bootstrap.Contact;           # where it is, should the link be lost
  successors @1 :List(Bootstrap.Contact);  # its own, by their keys
}
# Carried out on the process of an actor.
struct Strike {
  process @0 :UInt64;
  kind @1 :FaultKind;
  lasts @2 :Int64;     # nanoseconds; 0 of a stop: for good
  by @3 :Int64;        # of a delay: so late comes each message
}
struct StopAll {
  grace @0 :Int64;
}
struct Stop {}
struct Renew {}  # the lease of the node that asks
struct ReadFile {
  process @0 :UInt64;  # whose file
  name @1 :Text;
  offset @2 :UInt64;
  limit @3 :UInt32;
}
# What a node keeps for an actor that goes to another host.
struct ReadKept {
  actor @0 :Text;
  offset @1 :UInt64;
}
struct KeptPiece {
  size @0 :UInt64;     # of all of it; 0: nothing is kept
  bytes @1 :Data;
}
struct WriteKept {
  actor @0 :Text;
  offset @1 :UInt64;   # 0: instead of all that was kept before
  size @2 :UInt64;     # of all of it
  bytes @3 :Data;
}
struct ForgetKept {
  actor @0 :Text;
}
struct FilePiece {
  size @0 :UInt64;     # of the whole file, now
  bytes @1 :Data;
}

# ---- who looks at a run from outside ----

struct Look {}
struct Overview {
  run @0 :UInt64;
  name @1 :Text;
  stopping @2 :Bool;
  members @3 :List(ProcessStatus);
  report @4 :Data;     # what the launcher last said of the run
  faultsAllowed @5 :Bool;
}
struct EndRun {
  cause @0 :Text;
}
struct Report {
  text @0 :Data;
}
struct RunEnds {
  cause @0 :Text;
}

# ---- faults on purpose ----

enum FaultKind {
  kill @0;  # SIGKILL
  stop @1;  # SIGSTOP
  cut @2;   # its connections are shut
  delay @3; # what comes to it comes later
  drop @4;  # what comes to it is thrown away
  deviceFault @5;  # of the device that it computes on
}
struct InjectFault {
  name @0 :Text;       # of an actor
  kind @1 :FaultKind;
  lasts @2 :Int64;
  reason @3 :Text;     # who wants it, for the record
  by @4 :Int64;
}
struct FaultInjected {
  name @0 :Text;
  incarnation @1 :UInt64;
  kind @2 :FaultKind;
  lasts @3 :Int64;
  reason @4 :Text;
  by @5 :Int64;
}

struct Inspect {
  process @0 :UInt64;
}
struct Inspection {
  authenticationDenials @0 :UInt64;
  handshakeFailures @1 :UInt64;
  disconnects @2 :UInt64;
  mutedMessages @3 :UInt64;
  decodeErrors @4 :UInt64;
  refusedHellos @5 :UInt64;
  faults @6 :UInt64;
  openLinks @7 :UInt64;
  sequenceGaps @8 :UInt64;
}

# ---- what happened ----

struct ProcessDown {
  process @0 :UInt64;
  name @1 :Text;
  incarnation @2 :UInt64;
  exitCode @3 :Int32;      # -1: none
  signal @4 :Int32;        # 0: none
  cause @5 :Text;
  lastLines @6 :List(Text);
  consequence @7 :Bool;    # of another death (its node's)
  wanted @8 :Bool;         # it was asked to stop, or its actor stopped by itself
  host @9 :Text;           # the coordinator knows it
  unreached @10 :Bool;     # it failed for want of a link, not of another's life
}

struct ProcessRestarts {
  down @0 :ProcessDown;
  host @1 :Text;  # where
}

struct ProcessStatus {
  process @0 :UInt64;
  name @1 :Text;
  incarnation @2 :UInt64;
  host @3 :Text;
  pid @4 :Int64;
  state @5 :Text;
  residentBytes @6 :UInt64;
  loopLag @7 :Int64;
  queuedBytes @8 :UInt64;
  bytesIn @9 :UInt64;
  bytesOut @10 :UInt64;
  actors @11 :UInt64;
  comesAgain @12 :Bool;    # it would, were it lost now
}
struct StatusReport {
  processes @0 :List(ProcessStatus);
}

struct Drain {
  host @0 :Text;
  within @1 :Int64;  # nanoseconds
}
struct Move {
  actor @0 :Text;
  host @1 :Text;
  within @2 :Int64;
}
struct Moved {
  moved @0 :List(Text);  # "NAME to HOST"
}
struct AddHost {
  host @0 :Text;
  within @1 :Int64;
}
struct StartNode {
  host @0 :Text;
  within @1 :Int64;
}

# ---- what the coordinator has its owner keep ----

struct Note {
  entries @0 :List(Bootstrap.JournalEntry);
  number @1 :UInt64;   # of an incarnation's notes; of a key the highest counts
}
enum MemberState {
  starting @0;
  ready @1;
  dead @2;
}
struct MemberNote {
  kind @0 :Bootstrap.ProcessKind;
  node @1 :UInt64;
  network @2 :Bootstrap.Network;
  logDirectory @3 :Text;
  environment @4 :List(Text);
  state @5 :MemberState;
  contact @6 :Bootstrap.Contact;
  actor @7 :Envelope.ActorAddress;
  condemned @8 :Bool;
  atFault @9 :Bool;
  cause @10 :Text;
  down @11 :ProcessDown;   # its end, where it is dead; else who it is
  died @12 :Int64;         # by the clock of the coordinator's machine
}
struct PastRestart {
  at @0 :Int64;
  cause @1 :Text;
}
struct OriginNote {
  name @0 :Text;
  hosts @1 :List(Text);    # where it is, or is started next; where else it may be, best first
  lostHere @2 :UInt32;
  restarts @3 :List(PastRestart);
  underWay @4 :Bool;
  orderedAway @5 :UInt64;  # the incarnation that an operator has moved
  keptBy @6 :UInt64;       # the node that has its memory
}
struct NameNote {
  name @0 :Text;
  incarnation @1 :UInt64;  # the last that was issued
}
