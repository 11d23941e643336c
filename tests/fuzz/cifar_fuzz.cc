// libFuzzer: whatever bytes a file of CIFAR's binary form has, plain or gzip, reading it ends in
// whole records with labels below the number of classes, or in an error.
#include "input/formats/cifar.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/fuzz/memory_file.h"

namespace {

/// A folder of links to the fuzzed input, as the reader takes files by their names.
class LinkFolder {
 public:
  LinkFolder() { std::filesystem::create_directories(path_); }
  LinkFolder(const LinkFolder&) = delete;
  LinkFolder& operator=(const LinkFolder&) = delete;
  ~LinkFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("sterna-cifar-fuzz-" + std::to_string(::getpid()));
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sterna::input;
  static const LinkFolder folder;
  const sterna::fuzz::MemoryFile memory({data, size});
  for (const auto& [format, name] :
       {std::pair{&kCifar10, "test_batch.bin"}, std::pair{&kCifar100, "test.bin"}}) {
    std::error_code ignored;
    std::filesystem::remove(folder.path() / name, ignored);
    std::filesystem::create_symlink(memory.path(), folder.path() / name);
    const auto facts = format->facts(folder.path(), Split::test, {});
    const auto read = format->load(folder.path(), Split::test);
    if (!read) continue;
    const bool whole = read->labels.size() == read->count &&
                       read->images.size() == read->count * read->image_size() &&
                       std::ranges::all_of(read->labels, [&](auto l) { return l < read->classes; });
    if (!whole || !facts || facts->count != read->count) __builtin_trap();
  }
  return 0;
}
