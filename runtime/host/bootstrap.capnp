@0xe7a1c04f5b8d2963;
# What a process is told at its start, and how it can be reached.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::schema");

struct Contact {
  process @0 :UInt64;
  name @1 :Text;
  incarnation @2 :UInt64;
  controlEndpoint @3 :Text;
  dataEndpoint @4 :Text;
  publicKey @5 :Text;
  tokenHash @6 :Text;
  neighbourhood @7 :UInt64;  # whose processes also reach it over ipc; 0: nobody's
}

struct Network {
  tcp @0 :Bool;          # else ipc
  curve @1 :Bool;        # of tcp
  directory @2 :Text;    # of ipc sockets
  bindAddress @3 :Text;
  portLow @4 :UInt16;    # 0: any port
  portHigh @5 :UInt16;
  address @6 :Text;      # under which others reach bindAddress; empty: the same
  near @7 :Bool;         # with tcp: ipc between the processes of a host
  neighbourhood @8 :UInt64;  # of those who share the directory; 0 until a node has drawn it
}

# What the coordinator had its owner keep: the last value of each key.
struct JournalEntry {
  key @0 :Text;
  value @1 :Data;            # a packed message
}
struct JournalPage {
  entries @0 :List(JournalEntry);
}

enum ProcessKind {
  launcher @0;
  coordinator @1;
  node @2;
  actor @3;
}

# Everything a process is told at its start: on standard input, because it holds secrets.
struct Bootstrap {
  kind @0 :ProcessKind;
  run @1 :UInt64;
  runName @2 :Text;
  process @3 :UInt64;
  name @4 :Text;
  incarnation @5 :UInt64;
  publicKey @6 :Text;
  secretKey @7 :Text;
  token @8 :Text;
  uplink @9 :Contact;          # whom to dial; none for the coordinator
  admit @10 :List(Contact);    # who may dial from the start
  network @11 :Network;
  host @12 :Text;
  heartbeat @13 :Int64;        # nanoseconds
  silence @14 :Int64;
  grace @15 :Int64;
  computeThreads @16 :UInt32;
  actorType @17 :Text;
  args @18 :Data;              # a packed message of the type's Args
  logDirectory @19 :Text;
  lease @20 :Int64;            # of a node: nanoseconds without a word from the coordinator
  environment @21 :List(Text); # "NAME=value" for the actors' processes
  memoryLimit @22 :UInt64;     # resident bytes of an actor's process; 0: none
  operators @23 :List(Contact);# of the coordinator: who may look at the run and end it
  argsAreJson @24 :Bool;       # args is an object of keys and values
  linkPatience @25 :Int64;     # nanoseconds
  successors @26 :List(Contact);   # of a node or the coordinator: the coordinator's incarnations to come
  journal @27 :List(JournalPage);  # of the coordinator: what the one before has left
  slowLink @28 :UInt64;        # bytes a second; 0: none is too slow
}
