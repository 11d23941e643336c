// sterna help: the cluster file's keys, and what shells and man know of the command line. (Help on
// a command is the parser's, cli.cc.)
#include "launcher/cluster_file/keys.h"
#include "launcher/commands/command.h"
#include "launcher/commands/help/completion.h"
#include "launcher/commands/help/help_width.h"
#include "launcher/scrape/exposition.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {

Command help_command() {
  const auto markdown = std::make_shared<bool>(false);
  const auto shell = std::make_shared<std::string>();
  const auto word = std::make_shared<std::string>();
  const Command keys = {
      .name = "keys",
      .help = "Every key of a cluster file, or those of a section",
      .arguments = {{"SECTION", word.get(), "Of which, or one key; default: all"},
                    {"--markdown", markdown.get(), "As a Markdown table"}},
      .run =
          [markdown, word](const Context& context) {
            const auto described = word->empty()
                                       ? Result<std::vector<SectionDescription>>(describe_keys())
                                       : describe_keys(*word);
            if (!described) return context.console.report(described.error());
            if (*markdown) return context.console.result(keys_as_markdown(*described));
            return context.console.result(
                wrapped_help(keys_as_text(*described), help_width(context.console.out)));
          },
      .examples = {"sterna help keys gradient", "sterna help keys job.precision"}};
  const Command metrics = {"metrics",
                           "Every metric that [metrics] prometheus shows",
                           {{"--markdown", markdown.get(), "As a Markdown table"}},
                           [markdown](const Context& context) {
                             if (*markdown) return context.console.result(metrics_as_markdown());
                             return context.console.result(
                                 wrapped_help(metrics_as_text(), help_width(context.console.out)));
                           }};
  const Command scripts = {
      .name = "completion",
      .help = "A script by which a shell completes sterna's command line",
      .arguments = {{.name = "SHELL",
                     .into = shell.get(),
                     .help = "bash, zsh or fish",
                     .required = true,
                     .choices = kShells}},
      .run =
          [shell](const Context& context) {
            return context.console.result(completion(all_commands(), *shell));
          },
      .examples = {
          "sterna help completion bash > ~/.local/share/bash-completion/completions/sterna",
          "sterna help completion fish > ~/.config/fish/completions/sterna.fish"}};
  const Command man = {
      .name = "man",
      .help = "The manual page, for man's macros",
      .run =
          [](const Context& context) { return context.console.result(man_page(all_commands())); },
      .examples = {"sterna help man | man -l -"}};
  return {.name = "help",
          .help = "Help on a command, or on the cluster file's keys",
          .parts = {keys, metrics, scripts, man}};
}

}  // namespace sterna::launcher
