@0xd4a1b7c93e5f6082;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::schema::test");

struct Add { amount @0 :Int64; }
struct Total { value @0 :Int64; }
struct Slow { nanoseconds @0 :Int64; }
struct Blob { data @0 :Data; }
struct Boom { }
struct Blobs { blobs @0 :List(Blob); weights @1 :List(Float64); }
struct Pair { name @0 :Text; amount @1 :Int64; }
struct Greet { whom @0 :AnyPointer; }
