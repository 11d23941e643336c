// libFuzzer: whatever bytes a checkpoint's manifest has, reading ends in one that is written and
// read again as the same, with parts inside its folder, or in an error of one line.
#include <string_view>

#include "actors/checkpoint/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sterna;
  const auto manifest =
      actors::parse_manifest(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!manifest) {
    if (manifest.error().message.find('\n') != std::string::npos) __builtin_trap();
    return 0;
  }
  for (const actors::Manifest::Part& part : manifest->parts) {
    if (part.file.empty() || part.file.find('/') != std::string::npos) __builtin_trap();
  }
  const std::string text = actors::to_json(*manifest);
  const auto again = actors::parse_manifest(text);
  if (!again || actors::to_json(*again) != text) __builtin_trap();
  return 0;
}
