@0xa7d3f01c5be84692;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::schema::test");

enum Color {
  red @0;
  green @1;
}
struct Point {
  x @0 :Int32;
  label @1 :Text;
}
struct PainterArgs {
  name @0 :Text = "nobody";
  count @1 :UInt32 = 3;
  seed @2 :Int64;
  level @3 :Int8;
  ratio @4 :Float64 = 0.5;
  wet @5 :Bool;
  color @6 :Color;
  origin @7 :Point;
  names @8 :List(Text);
  path @9 :List(Point);
  table @10 :List(List(UInt8));
}
