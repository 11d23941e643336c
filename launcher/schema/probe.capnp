@0xd2f41c7a90be5836;
# What `sterna doctor` and the actors that it starts on the hosts say to each other.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::launcher::schema");

struct ProberArgs {}

struct Ping {}

# Some bytes to be measured, thrown away.
struct Load { body @0 :Data; }

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
