@0xd2f41c7a90be5836;
# What `sterna doctor`, a run that has codecs to choose, and the actors that they start on the hosts
# say to each other.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::launcher::schema");

struct ProberArgs {}

struct Ping {}

# Some bytes to be measured, thrown away, and answered with so many.
struct Load {
  body @0 :Data;
  answerBytes @1 :UInt32;
}
struct Loaded { body @0 :Data; }

struct ProbePeer {
  peer @0 :Text;
  pings @1 :UInt32;
  loads @2 :UInt32;
  loadBytes @3 :UInt32;
  patience @4 :Int64;     # nanoseconds, for each step
}
struct PeerProbed {
  roundTrip @0 :Int64;    # nanoseconds, the median
  bytesPerSecond @1 :Float64;
}

struct CountPorts {
  address @0 :Text;
  low @1 :UInt16;
  high @2 :UInt16;
}
struct PortsCounted { free @0 :UInt32; }

# Bytes to and from all peers at once, for so long.
struct ProbeLink {
  peers @0 :List(Text);
  upBytes @1 :UInt32;     # to each, again and again
  downBytes @2 :UInt32;   # from each in return
  span @3 :Int64;         # nanoseconds
  patience @4 :Int64;     # nanoseconds, for each step
}
struct LinkProbed {
  roundTrip @0 :Int64;    # nanoseconds, the median of the slowest peer's
  seconds @1 :Float64;    # for one such exchange with all of them
}

struct ProbeCodecs {
  job @0 :Data;           # packed: the actors' JobConfig
  codecs @1 :List(Text);
}
struct CodecCost {
  codec @0 :Text;
  bytesUp @1 :Float64;    # these are per element
  bytesDown @2 :Float64;
  workerSeconds @3 :Float64;
  serverSeconds @4 :Float64;
}
struct CodecsProbed { costs @0 :List(CodecCost); }

# Ends the prober.
struct Finish {}
