@0xb3d0a2c7e16f4958;
# The names of codecs on the wire.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sterna::actors::schema");

enum Codec {
  fp32 @0;            # plain little-endian fp32
  ternary @1;         # a scaler and bit-planes of trits or of their sums (kernels/trits/TRITS.md)
  bf16 @2;            # the upper halves of fp32
  ternaryEntropy @3;  # as ternary, the planes entropy-coded (kernels/entropy/ENTROPY.md)
  rowwise @4;         # levels between the ends of each row (kernels/numbers/rows.h)
  sign @5;            # signs and their mean magnitude (kernels/numbers/signs.h)
  topk @6;            # the largest elements and their places (kernels/numbers/largest.h)
}
