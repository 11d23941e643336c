// libFuzzer: whatever bytes a weights file has, reading ends in tensors of as many elements as
// their shapes say and in a note of a net that can be described, or in an error.
#include <vector>

#include "actors/weights/model_note.h"
#include "nets/describe_net.h"
#include "nets/weights/weights_file.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sterna;
  const fuzz::MemoryFile memory({data, size});
  const auto file = nets::read_safetensors(memory.path());
  if (!file) return 0;
  for (const nets::NamedTensor& tensor : file->tensors) {
    std::size_t count = 1;
    for (const std::size_t extent : tensor.shape) count *= extent;
    if (count != tensor.values.size()) __builtin_trap();
  }
  const auto note = actors::note_from(file->metadata, "fuzzed");
  if (note && !nets::describe_net(note->net(1))) __builtin_trap();
  return 0;
}
