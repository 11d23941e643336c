// The program `sterna`: the command line, and every process of a run (it starts itself again).
#include "runtime/main.h"

#include <fcntl.h>

#include "launcher/commands/cli.h"
#include "launcher/owner/owner.h"
#include "launcher/program_registry.h"

namespace {

/// A closed standard stream would lend its number to the first file or socket that is opened, and
/// what is meant for the screen would end up in it.
void open_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != stream) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  const sterna::Registry registry = sterna::launcher::program_registry();
  if (const auto exit_code = sterna::host_if_child(argc, argv, registry)) return *exit_code;
  if (const auto exit_code = sterna::launcher::own_if_asked(argc, argv, registry))
    return *exit_code;
  return sterna::launcher::command_line(argc, argv, registry);
}
