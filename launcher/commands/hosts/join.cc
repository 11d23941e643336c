// sterna join FILE: this host's node agent of a run, in the foreground of whoever started this.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <vector>

#include "launcher/commands/command.h"
#include "runtime/host/process_names.h"
#include "runtime/remote/join_placer.h"

namespace sterna::launcher {
namespace {

struct JoinOptions {
  std::string file;     ///< RUN_DIR/join/HOST of a run
  std::string program;  ///< what the run's file calls [program] path; empty: this one
};

/// Becomes the node agent; returns only when it cannot.
int join(const JoinOptions& options, const Console& console) {
  const std::string& path = options.file;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return console.report(system_error(path, errno));
  const Result<Bootstrap> bootstrap = read_bootstrap_file(file, path);
  if (!bootstrap) return console.report(bootstrap.error());
  // The same process under its name in the run, so that everybody can tell whose it is.
  const std::string program = options.program.empty() ? "/proc/self/exe" : options.program;
  const std::string name = options.program.empty()
                               ? own_program_name()
                               : std::filesystem::path(program).filename().string();
  std::vector<std::string> words =
      child_arguments(name, bootstrap->identity.name, bootstrap->run, 0);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  // Who is stopped is given up: Ctrl-Z would lose the host.
  std::signal(SIGTSTP, SIG_IGN);
  if (::dup2(file, STDIN_FILENO) < 0) return console.report(system_error(path, errno));
  ::execv(program.c_str(), argv.data());
  const int failed = errno;
  if (options.program.empty()) {
    return console.report(system_error("cannot become the node agent", failed));
  }
  return console.report(
      Error{Errc::invalid_argument, system_error("--program " + program, failed).message});
}

}  // namespace

Command join_command() {
  const auto o = std::make_shared<JoinOptions>();
  return {
      .name = "join",
      .help = "Be a host's node agent, under a supervisor of your own",
      .arguments = {{.name = "FILE",
                     .into = &o->file,
                     .help = "The run's file for this host, RUN_DIR/join/HOST",
                     .required = true},
                    {.name = "--program",
                     .into = &o->program,
                     .help = "Of a run of your own program: where it lies on this host",
                     .type = "PATH"}},
      .run = [o](const Context& context) { return join(*o, context.console); },
      .notes =
          "With placer = \"join\" `sterna run` and `sterna up` write a file for each host "
          "and wait.\n"
          "It holds secrets: bring it there unread by others (mode 0600). SIGTERM has the\n"
          "node's actors go on elsewhere, and a second one ends it at once; without a word from\n"
          "the run for cluster.lease it ends with exit code 3."};
}

}  // namespace sterna::launcher
