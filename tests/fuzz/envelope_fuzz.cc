// libFuzzer: whatever frames a peer sends, decoding ends in a message or an error, never in a
// crash, a hang or bloat. Covers the Envelope and every message type, over several segments,
// aligned or not.
#include "tests/fuzz/decode_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sterna::fuzz::decode_input(data, size);
  return 0;
}
