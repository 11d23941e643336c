// The program `sterna`: the command line, and every process of a run (it starts itself again).
#include "runtime/main.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "launcher/commands/cli.h"
#include "launcher/owner/owner.h"
#include "launcher/program_registry.h"

namespace {

/// A closed standard stream would lend its number to the first file or socket that is opened, and
/// what is meant for the screen would end up in it. Standard output still refuses to be written to:
/// what was asked for went nowhere, and a command has to say so.
void open_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    const int how = stream == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", how) != stream) return;
  }
}

/// Commands that compute in this process, on as many threads as a job or an option says.
constexpr std::array<std::string_view, 2> kComputing = {"bench", "eval"};

/// Threads that compute must not spin while they wait, which libgomp is told before it is loaded
/// (nets/onednn): starts such a command again.
void wait_passively(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (std::find(kComputing.begin(), kComputing.end(), command) == kComputing.end()) return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  ::execv("/proc/self/exe", argv);  // where that fails, several threads are refused in a line
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  const sterna::Registry registry = sterna::launcher::program_registry();
  if (const auto exit_code = sterna::host_if_child(argc, argv, registry)) return *exit_code;
  if (const auto exit_code = sterna::launcher::own_if_asked(argc, argv, registry))
    return *exit_code;
  wait_passively(argc, argv);
  return sterna::launcher::command_line(argc, argv, registry);
}
