// The program `sterna`: the command line, and every process of a run (it starts itself again).
#include "runtime/main.h"
#include "launcher/cli.h"
#include "launcher/program_registry.h"

int main(int argc, char** argv) {
  const sterna::Registry registry = sterna::launcher::program_registry();
  if (const auto exit_code = sterna::host_if_child(argc, argv, registry)) return *exit_code;
  return sterna::launcher::command_line(argc, argv);
}
