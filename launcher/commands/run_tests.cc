// sterna test: runs the tests that were built beside this program.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "launcher/commands/command.h"

namespace sterna::launcher {
namespace {

/// Of the tests those that want a GPU, and none of them may go without.
constexpr const char* kGpu = "--gpu";
constexpr const char* kDemandsGpu = "STERNA_TEST_GPU";  // they look for it

/// Becomes ctest; returns only when that fails.
int test(std::vector<std::string> arguments, const Console& console) {
  std::error_code failed;
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return console.report(system_error("/proc/self/exe", failed.value()));
  const std::string folder = binary.parent_path().string();
  if (!std::filesystem::exists(folder + "/CTestTestfile.cmake", failed)) {
    return console.report(
        {Errc::unavailable,
         folder + " holds no tests; build with STERNA_TESTS=ON and run sterna from there"});
  }
  std::vector<std::string> words = {"ctest", "--test-dir", folder, "--output-on-failure"};
  if (std::erase(arguments, kGpu) > 0) {
    setenv(kDemandsGpu, "1", 1);  // NOLINT(concurrency-mt-unsafe)
    words.insert(words.end(), {"-L", "^gpu$", "--no-tests=error"});
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  return console.report(system_error("cannot start ctest (from the package cmake)", errno));
}

}  // namespace

Command test_command() {
  const auto rest = std::make_shared<std::vector<std::string>>();
  return {
      .name = "test",
      .help = "Run the tests of this build (--gpu: those for GPUs alone); arguments go to ctest",
      .run = [rest](const Context& context) { return test(*rest, context.console); },
      .rest = rest.get()};
}

}  // namespace sterna::launcher
