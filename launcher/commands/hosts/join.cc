// sterna join FILE: this host's node agent of a run, in the foreground of whoever started this.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <vector>

#include "launcher/commands/command.h"
#include "runtime/host/process_names.h"
#include "runtime/remote/join_placer.h"

namespace sterna::launcher {
namespace {

/// Becomes the node agent; returns only when it cannot. `path` is RUN_DIR/join/HOST of a run.
int join(const std::string& path, const Console& console) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return console.report(system_error(path, errno));
  const Result<Bootstrap> bootstrap = read_bootstrap_file(file, path);
  if (!bootstrap) return console.report(bootstrap.error());
  // The same process under its name in the run, so that everybody can tell whose it is.
  std::vector<std::string> words =
      child_arguments(own_program_name(), bootstrap->identity.name, bootstrap->run, 0);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // Who is stopped is given up: Ctrl-Z would lose the host.
  std::signal(SIGTSTP, SIG_IGN);
  if (::dup2(file, STDIN_FILENO) < 0) return console.report(system_error(path, errno));
  ::execv("/proc/self/exe", argv.data());
  return console.report(system_error("cannot become the node agent", errno));
}

}  // namespace

Command join_command() {
  const auto file = std::make_shared<std::string>();
  return {
      .name = "join",
      .help = "Be a host's node agent, under a supervisor of your own",
      .arguments = {{.name = "FILE",
                     .into = file.get(),
                     .help = "The run's file for this host, RUN_DIR/join/HOST",
                     .required = true}},
      .run = [file](const Context& context) { return join(*file, context.console); },
      .notes =
          "With placer = \"join\" `sterna run` and `sterna up` write a file for each host "
          "and wait.\n"
          "It holds secrets: bring it there unread by others (mode 0600). SIGTERM has the\n"
          "node's actors go on elsewhere, and a second one ends it at once; without a word from\n"
          "the run for cluster.lease it ends with exit code 3."};
}

}  // namespace sterna::launcher
