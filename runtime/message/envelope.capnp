@0xb3f1a6c2d4e59781;
# What every message between two processes looks like.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::schema");

enum Kind {
  tell @0;     # no answer expected
  ask @1;      # `correlation` names the asker's pending ask
  reply @2;    # the result of an ask; body is the reply struct
  failure @3;  # the ask failed; body is Failure
  cancel @4;   # the asker no longer waits for `correlation`; no body
}

struct Envelope {
  target @0 :UInt64;       # local id at the receiver; 0 is the link itself
  source @1 :UInt64;       # local id at the sender
  correlation @2 :UInt64;  # of an ask, its answer or its cancellation
  kind @3 :Kind;
  typeId @4 :UInt64;       # the 64-bit id of the body's struct, checked before the body is read
  epoch @5 :UInt32;        # membership epoch
  deadline @6 :Int64;      # nanoseconds left when sent; 0 for none
  sequence @7 :UInt64;     # per lane and session, from 1 without gaps; a Hello's and a Welcome's is 0,
                           # a Heartbeat's, a Goodbye's and a Redial's that of the next message
  body @8 :AnyPointer;
  # So many the sender has received, per lane, numbered from 1 (modulo 2^32): what comes before need
  # not be kept for another connection.
  controlReceived @9 :UInt32;
  dataReceived @10 :UInt32;
}

struct Failure {
  code @0 :UInt16;   # Errc
  message @1 :Text;
}

struct ActorAddress {
  process @0 :UInt64;
  local @1 :UInt64;
  interface @2 :UInt64;  # the interface's type id
}

# The first message on each lane of a connection, from the side that dialled: of a new session, or of
# one whose connection was lost.
struct Hello {
  protocol @0 :UInt32;
  schemaHash @1 :UInt64;
  buildId @2 :Text;
  host @3 :Text;
  run @4 :UInt64;
  session @5 :UInt64;      # drawn by the dialling side, the same on both lanes
  process @6 :UInt64;      # the sender's process id
  incarnation @7 :UInt64;
  codecs @8 :UInt32;       # bit set of gradient codecs understood
  credit @9 :UInt64;       # bytes the sender of this message is ready to receive on this lane
  resumes @10 :Bool;       # goes on with `session`
  received @11 :UInt64;    # then: the number of the message that the sender waits for on this lane
  dial @12 :UInt64;        # counts the lane's connections in this session: an older one comes too late
}

# The answer to a Hello.
struct Welcome {
  accepted @0 :Bool;
  reason @1 :Text;         # why not
  protocol @2 :UInt32;
  schemaHash @3 :UInt64;
  buildId @4 :Text;
  host @5 :Text;
  session @6 :UInt64;
  process @7 :UInt64;
  incarnation @8 :UInt64;
  codecs @9 :UInt32;
  credit @10 :UInt64;
  received @11 :UInt64;    # of a resumed session: as in Hello
}

# From each process's loop to every peer, each heartbeat interval, and when credit is due. On the
# data lane: only the number of the next message, once the last ones may have been lost.
struct Heartbeat {
  controlCredit @0 :UInt64;  # cumulative bytes granted on the control lane this session
  dataCredit @1 :UInt64;
  loopLag @2 :Int64;         # nanoseconds: how late the last heartbeat timer fired
  queuedBytes @3 :UInt64;    # bytes waiting for credit, over all links
  bytesIn @4 :UInt64;        # of the process, all links
  bytesOut @5 :UInt64;
  actors @6 :UInt64;         # live actors in the process
  # One clock per host is compared with others by these; nanoseconds of the sender's monotonic clock.
  sent @7 :Int64;            # when this heartbeat was sent; 0: the peer does not say
  echoed @8 :Int64;          # `sent` of the receiver's last heartbeat; 0: none has come
  held @9 :Int64;            # how long ago that came, when this was sent
}

# The last message of a link that one side ends: its connections will be lost for good.
struct Goodbye {
}

# To who dialled, from who accepted it: on this lane something did not come. Its connection is given
# up, and what is missing is sent again on another one.
struct Redial {
}

# A monitor across processes: sent to the watched actor's process; it answers with Down when the actor dies.
struct Watch {
  actor @0 :UInt64;
}

struct Down {
  process @0 :UInt64;
  actor @1 :UInt64;        # 0: the whole process
  name @2 :Text;
  incarnation @3 :UInt64;
  cause @4 :Text;
}
