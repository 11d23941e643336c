#include "launcher/commands/command.h"

// A word for each command: its file defines NAME_command(). In the order of the help.
#define STERNA_COMMANDS(EACH) \
  EACH(run)                   \
  EACH(up)                    \
  EACH(status)                \
  EACH(watch)                 \
  EACH(page)                  \
  EACH(drain)                 \
  EACH(add)                   \
  EACH(move)                  \
  EACH(down)                  \
  EACH(list)                  \
  EACH(logs)                  \
  EACH(events)                \
  EACH(chaos)                 \
  EACH(checkpoints)           \
  EACH(join)                  \
  EACH(check)                 \
  EACH(doctor)                \
  EACH(data)                  \
  EACH(net)                   \
  EACH(eval)                  \
  EACH(predict)               \
  EACH(export)                \
  EACH(plot)                  \
  EACH(trace)                 \
  EACH(report) EACH(bench) EACH(simulate) EACH(test) EACH(help)

namespace sterna::launcher {

#define STERNA_DECLARE(name) Command name##_command();
STERNA_COMMANDS(STERNA_DECLARE)

std::vector<Command> all_commands() {
#define STERNA_MAKE(name) name##_command(),
  return {STERNA_COMMANDS(STERNA_MAKE)};
}

}  // namespace sterna::launcher
