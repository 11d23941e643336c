@0xb6a0e5d1c94f7e23;
# What the launcher and the process that keeps a run (launcher/owner/owner.h) say to each other over that
# process's standard streams.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::launcher::schema");

struct OwnerWord {
  kind @0 :Text;
  text @1 :Text;
  data @2 :Data;
  number @3 :Int64;
}
