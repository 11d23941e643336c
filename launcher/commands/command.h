// A command of `sterna` as a value: its line in the help, its options, what it does, the commands
// within it. Each has a file of its own and a word in commands.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/text/console.h"
#include "runtime/actor/registry.h"

namespace sterna::launcher {

/// What a command is called with.
struct Context {
  Console console;
  const Registry& registry;  ///< this program's actor types
};

/// An option or a flag ("--json", "-f,--follow"), or a word by its place ("FILE").
struct Argument {
  std::string name;
  /// Where its value goes when the command line is read; it holds the default.
  std::variant<bool*, std::string*, std::int64_t*, std::uint64_t*, std::vector<std::string>*> into;
  std::string help;
  std::string type = {};  ///< the value in the help, "DIR"
  bool required = false;
  bool shows_default = false;
  std::optional<std::pair<std::int64_t, std::int64_t>> range = {};
  std::vector<std::string> choices = {};
};

/// Its help, and the words that it may be, where they are given.
inline std::string full_help(const Argument& argument) {
  if (argument.choices.empty()) return argument.help;
  return fmt::format("{} ({})", argument.help, fmt::join(argument.choices, ", "));
}

struct Command {
  std::string name;
  std::string help;
  std::vector<Argument> arguments = {};
  std::function<int(const Context&)> run = {};  ///< gives the exit code; none: say which part
  std::vector<Command> parts = {};
  std::string notes = {};                    ///< behind its options, in lines that fit a terminal
  std::vector<std::string> examples = {};    ///< command lines, at the end of its help
  std::vector<std::string>* rest = nullptr;  ///< takes all that follows the command as it is
};

/// The end of its help; empty: it has none.
inline std::string help_end(const Command& command) {
  std::string end = command.notes;
  if (command.examples.empty()) return end;
  end += fmt::format("{}Examples:\n", end.empty() ? "" : "\n\n");
  return end + fmt::format("  {}", fmt::join(command.examples, "\n  "));
}

/// All, in the order of the help.
std::vector<Command> all_commands();

}  // namespace sterna::launcher
