# counter.capnp
@0xc81f5b7e20d946a3;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("wire");

struct Total { value @0 :Int64; }
struct Add { amount @0 :Int64; }
