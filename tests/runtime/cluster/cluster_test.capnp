@0xe7b19c02a45d38f6;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::schema::test");

struct PeerArgs { total @0 :Int64; failWith @1 :Text; asks @2 :Text; until @3 :Text; }
struct Deposit { amount @0 :Int64; }
struct Balance { value @0 :Int64; }
struct Relay { name @0 :Text; amount @1 :Int64; }
struct RelayAgain { name @0 :Text; amount @1 :Int64; }
struct Mourn { name @0 :Text; }
struct Obituary { name @0 :Text; incarnation @1 :UInt64; cause @2 :Text; }
struct Fail { cause @0 :Text; }
struct Keep { value @0 :Int64; }
struct Block { milliseconds @0 :Int64; }
