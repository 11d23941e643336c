#include "launcher/via.h"

#include <unistd.h>

#include <cerrno>

#include "launcher/commands.h"
#include "runtime/remote_placer.h"
#include "runtime/remote_script.h"

namespace sterna::launcher {

int run_via(const std::string& destination, const std::vector<std::string>& arguments) {
  std::string script =
      "b=$(command -v sterna || ls -t ~/.cache/sterna/bundles/*/bin/sterna 2>/dev/null | head -n "
      "1);"
      " [ -n \"$b\" ] || { echo \"sterna: there is no sterna here\" >&2; exit 1; };"
      " exec \"$b\"";
  for (const std::string& argument : arguments) {
    if (!plain_for_shell(argument)) {
      return report({Errc::invalid_argument, "\"" + argument + "\" cannot be sent by --via"});
    }
    script += " " + argument;
  }
  constexpr Duration kPatience = std::chrono::seconds(10);
  std::vector<std::string> words = ssh_command(destination, kPatience);
  words.push_back(as_ssh_command(script));
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  return report(system_error("cannot start ssh", errno));
}

}  // namespace sterna::launcher
