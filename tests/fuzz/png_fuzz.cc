// libFuzzer: whatever bytes stand where a PNG should, decoding ends in a picture or an error, and a
// region of the picture is what the whole has there.
#include "tests/fuzz/decode_picture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sterna::fuzz::decode_picture(sterna::input::Coding::png, data, size);
  return 0;
}
