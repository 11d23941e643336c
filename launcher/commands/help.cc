// sterna help keys: the cluster file's keys.
#include <cstdio>

#include "launcher/cluster_file/keys.h"
#include "launcher/commands/commands.h"
#include "launcher/text/console.h"

namespace sterna::launcher {

int help_keys_command(const HelpKeysOptions& options) {
  const std::string text = options.markdown ? keys_as_markdown() : keys_as_text();
  const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return written ? exit_done : exit_failed;
}

}  // namespace sterna::launcher
