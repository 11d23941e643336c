// sterna help keys: the cluster file's keys. (Help on a command is the parser's, cli.cc.)
#include "launcher/cluster_file/keys.h"
#include "launcher/commands/command.h"

namespace sterna::launcher {

Command help_command() {
  const auto markdown = std::make_shared<bool>(false);
  const Command keys = {
      "keys",
      "Every key of a cluster file",
      {{"--markdown", markdown.get(), "As a Markdown table"}},
      [markdown](const Context& context) {
        return context.console.result(*markdown ? keys_as_markdown() : keys_as_text());
      }};
  return {
      .name = "help", .help = "Help on a command, or on the cluster file's keys", .parts = {keys}};
}

}  // namespace sterna::launcher
