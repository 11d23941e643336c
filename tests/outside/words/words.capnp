# words.capnp
@0xf38af30842d53f1b;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("wire");

struct Count { text @0 :Data; }
struct Counted { words @0 :UInt64; }
struct Await {}
struct MapperArgs { shortest @0 :UInt32 = 1; }
struct BoardArgs { mappers @0 :List(Text); texts @1 :UInt32 = 100; stops @2 :Bool = true; }
