// libFuzzer: whatever bytes a peer sends as entropy-coded planes, decoding ends in planes or an
// error, and in the same one with every instruction set.
#include "tests/fuzz/decode_planes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sterna::fuzz::decode_planes(data, size);
  return 0;
}
