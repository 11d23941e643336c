@0xe7c25d90ab31f486;
# What `sterna bench actors` speaks.
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::schema::bench");
using Envelope = import "/runtime/message/envelope.capnp";

struct Echo { body @0 :Data; }

struct NoArgs {}

# "Ask these actors, `window` at a time, for a while."
struct Drive {
  targets @0 :List(Envelope.ActorAddress);
  window @1 :UInt32;      # asks in flight, over all targets together
  nanoseconds @2 :Int64;
}

# The same exchange over raw ZeroMQ: DEALER to ROUTER, blocking, one frame each way.
struct DriveRaw {
  endpoints @0 :List(Text);
  serverKeys @1 :List(Text);  # empty without CURVE
  window @2 :UInt32;
  nanoseconds @3 :Int64;
}
struct Rate {
  exchanges @0 :UInt64;
  nanoseconds @1 :Int64;
}

# "Answer raw messages at an endpoint of this kind until told to stop."
struct ServeRaw {
  endpoint @0 :Text;      # to bind, e.g. tcp://127.0.0.1:*
  curve @1 :Bool;
}
struct Serving {
  endpoint @0 :Text;
  serverKey @1 :Text;
}
struct StopRaw {}
