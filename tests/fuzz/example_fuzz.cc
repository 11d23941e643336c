// libFuzzer: whatever bytes a record has, parsing ends in a picture's record or an error; and a
// record that was parsed is the same when it is written and parsed again.
#include "input/records/example.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sterna::input;
  const auto record = parse_picture_record({data, size});
  if (!record) {
    if (record.error().message.empty()) __builtin_trap();
    return 0;
  }
  const auto again = parse_picture_record(pack_picture_record(*record));
  if (!again || again->coding != record->coding || again->bytes != record->bytes ||
      again->label != record->label || again->class_text != record->class_text ||
      again->boxes != record->boxes || again->name != record->name) {
    __builtin_trap();
  }
  return 0;
}
