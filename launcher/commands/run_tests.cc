// sterna test: runs the tests that were built beside this program.
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "launcher/commands/commands.h"
#include "launcher/text/console.h"

namespace sterna::launcher {

int test_command(const TestOptions& options) {
  std::error_code failed;
  const std::filesystem::path binary = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return report(system_error("/proc/self/exe", failed.value()));
  const std::string folder = binary.parent_path().string();
  if (!std::filesystem::exists(folder + "/CTestTestfile.cmake", failed)) {
    return report(
        {Errc::unavailable,
         folder + " holds no tests; build with STERNA_TESTS=ON and run sterna from there"});
  }
  std::vector<std::string> words = {"ctest", "--test-dir", folder, "--output-on-failure"};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  return report(system_error("cannot start ctest (from the package cmake)", errno));
}

}  // namespace sterna::launcher
