// sterna join FILE: this host's node agent of a run, in the foreground of whoever started this.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "launcher/commands/commands.h"
#include "launcher/text/console.h"
#include "runtime/host/process_names.h"
#include "runtime/remote/join_placer.h"

namespace sterna::launcher {

int join_command(const JoinOptions& options) {
  const int file = ::open(options.file.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return report(system_error(options.file, errno));
  const Result<Bootstrap> bootstrap = read_bootstrap_file(file, options.file);
  if (!bootstrap) return report(bootstrap.error());
  // The same process under its name in the run, so that everybody can tell whose it is.
  std::vector<std::string> words = child_arguments(bootstrap->identity.name, bootstrap->run, 0);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::dup2(file, STDIN_FILENO) < 0) return report(system_error(options.file, errno));
  ::execv("/proc/self/exe", argv.data());
  return report(system_error("cannot become the node agent", errno));
}

}  // namespace sterna::launcher
