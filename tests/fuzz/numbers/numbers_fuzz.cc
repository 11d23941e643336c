// libFuzzer: whatever bytes a peer sends as a gradient in rows, signs or the largest elements,
// decoding ends in as many finite numbers as there are elements, or in an error.
#include "tests/fuzz/numbers/decode_numbers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sterna::fuzz::decode_numbers(data, size);
  return 0;
}
