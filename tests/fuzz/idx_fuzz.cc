// libFuzzer: whatever bytes an IDX file has, plain or gzip, reading ends in images, labels or an
// error.
#include "input/formats/idx.h"

#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sterna::input;
  const sterna::fuzz::MemoryFile memory({data, size});
  const auto images = read_idx_images(memory.path());
  if (images && images->pixels.size() != images->count * images->rows * images->columns) {
    __builtin_trap();
  }
  const auto labels = read_idx_labels(memory.path(), 10);
  if (images && labels) __builtin_trap();  // no file is both
  return 0;
}
