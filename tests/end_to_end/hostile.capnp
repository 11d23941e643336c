@0xa94c1e6b70d2f385;
# What the actors of the tests of misbehaviour are told.
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::schema::test");

struct Misbehave { towards @0 :Text; how @1 :Text; }
struct Blob { bytes @0 :Data; }
struct Taken { bytes @0 :UInt64; }
struct Flood { towards @0 :Text; messages @1 :UInt32; bytes @2 :UInt64; deadline @3 :Int64; }
struct Flooded {
  answered @0 :UInt32;
  late @1 :UInt32;          # ended by their deadline
  refused @2 :UInt32;       # overloaded
  other @3 :UInt32;
  queuedBytes @4 :UInt64;   # at most
  residentBytes @5 :Int64;  # grown by, at most
}
