@0x9f2c5be07d61a834;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("wire");

struct GreeterArgs {
  greeting @0 :Text = "hello";
  count @1 :UInt32 = 1;   # of all greeters
}
struct Greeting { text @0 :Text; }
struct Greet { text @0 :Text; }
struct Bye {}
