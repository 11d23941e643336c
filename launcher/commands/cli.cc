#include "launcher/commands/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <sstream>
#include <string_view>
#include <utility>

#include "launcher/commands/command.h"
#include "launcher/commands/help/help_width.h"
#include "launcher/commands/version.h"
#include "launcher/text/nearest.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

constexpr const char* kDescription =
    "Trains image classifiers across ordinary machines: parameter servers, workers, input readers\n"
    "and an evaluator are actors, and gradients travel as ternary digits, 2 bits per parameter.\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  sterna run configs/lenet_mnist.toml                train LeNet, watch its accuracy\n"
    "  sterna run configs/lenet_mnist.toml --set gradient.codec=none --set job.steps=500\n"
    "  sterna check my.toml                               is this file right, who runs where?\n"
    "  sterna help keys                                   everything such a file can say\n"
    "  sterna data fetch mnist                            real MNIST instead of drawn digits\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 bad input, 75 goes on from a checkpoint (the last line says "
    "how),\n130 Ctrl-C.";

constexpr const char* kHelp = "help";

/// What other programs call our commands.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kOtherWords{{
    {"train", "run"},
    {"fit", "run"},
    {"evaluate", "eval"},
    {"infer", "predict"},
    {"kill", "down"},
    {"stop", "down"},
    {"ps", "list"},
}};

/// `; did you mean "x"?` of one of `commands`, or "".
std::string command_meant(std::string_view word, const std::vector<std::string>& commands) {
  const auto* other =
      std::ranges::find(kOtherWords, word, &std::pair<std::string_view, std::string_view>::first);
  const bool known =
      other != kOtherWords.end() && std::ranges::find(commands, other->second) != commands.end();
  if (known) return fmt::format("; did you mean \"{}\"?", other->second);
  return did_you_mean(word, commands);
}

/// The parser of the command line, made of the commands.
class CommandLine {
 public:
  explicit CommandLine(const Context& context) : context_(context), app_(kDescription, "sterna") {
    app_.footer(kExamples);
    app_.set_version_flag(
        "--version", [] { return version_text(); }, "Print version, build id and libraries");
    app_.get_option("--help")->description("Print this help, or a command's");
    app_.set_help_flag("-h,--help", "Print this help, or a command's");
    app_.allow_extras();
    app_.require_subcommand(0, 1);  // a run may be called "run"
    for (const Command& command : commands_) add(app_, command);
  }

  int parse_and_run(int argc, const char* const* argv) {
    // The parser would take `run` in `help run` for the command itself.
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.size() > 1 && words[0] == kHelp && words[1][0] != '-') {
      const std::vector<std::string> own = command_names(app_.get_subcommand(kHelp));
      if (std::find(own.begin(), own.end(), words[1]) == own.end()) {
        return help_on({words.begin() + 1, words.end()});
      }
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& wanted) {  // --help and --version
      std::ostringstream text;
      app_.exit(wanted, text, text);
      return context_.console.result(wrapped_help(text.str(), help_width(context_.console.out)));
    } catch (const CLI::ParseError& error) {
      // An option nobody knows explains what is missing better than what is missing does.
      if (!unexpected().empty()) return complain(unexpected());
      return usage_error(error.what());
    }
    if (chosen_ != nullptr && chosen_->rest != nullptr) {
      *chosen_->rest = deepest()->remaining();
      return chosen_->run(context_);
    }
    if (deepest()->get_name() == kHelp) return help_on({});
    if (!unexpected().empty()) return complain(unexpected());
    if (chosen_ != nullptr) return chosen_->run(context_);
    if (deepest() == &app_) {
      const std::size_t width = help_width(context_.console.err);
      std::fputs(wrapped_help(app_.help(), width).c_str(), context_.console.err);
      return kExitBadInput;
    }
    return usage_error(fmt::format("say which: {}", fmt::join(command_names(deepest()), ", ")));
  }

 private:
  void add(CLI::App& parent, const Command& command) {
    CLI::App* app = parent.add_subcommand(command.name, command.help);
    app->set_help_flag("-h,--help", "Print this help");
    app->allow_extras();
    app->footer(help_end(command));
    for (const Argument& argument : command.arguments) add(*app, argument);
    if (command.rest != nullptr) app->prefix_command();
    for (const Command& part : command.parts) add(*app, part);
    if (command.run) app->callback([this, &command] { chosen_ = &command; });
  }

  static void add(CLI::App& app, const Argument& argument) {
    CLI::Option* option = std::visit(
        [&](auto* into) {
          if constexpr (std::is_same_v<decltype(into), bool*>) {
            return app.add_flag(argument.name, *into, full_help(argument));
          } else {
            return app.add_option(argument.name, *into, full_help(argument));
          }
        },
        argument.into);
    // What a variable that is not set leaves is no value, and not the default either.
    if (std::holds_alternative<std::string*>(argument.into) ||
        std::holds_alternative<std::vector<std::string>*>(argument.into)) {
      option->check(CLI::Validator(
          [](const std::string& value) {
            return value.empty() ? std::string("it is empty") : std::string();
          },
          ""));
    }
    // Of an option each value has its name before it; words by their place are as many as come.
    if (std::holds_alternative<std::vector<std::string>*>(argument.into)) {
      option->allow_extra_args(!argument.name.starts_with('-'));
    }
    if (argument.range) {
      option->check(CLI::Range(argument.range->first, argument.range->second).description(""));
    }
    if (!argument.choices.empty()) {
      option->check(CLI::IsMember(argument.choices).description(""));
    }
    option->required(argument.required);
    if (!argument.type.empty()) option->type_name(argument.type);
    if (argument.shows_default) option->capture_default_str();
  }

  /// sterna help [COMMAND]
  int help_on(const std::vector<std::string>& path) {
    CLI::App* about = &app_;
    for (const std::string& word : path) {
      const std::vector<std::string> names = command_names(about);
      if (std::find(names.begin(), names.end(), word) == names.end()) {
        return usage_error(
            fmt::format("unknown command \"{}\"{}", word, command_meant(word, names)));
      }
      about = about->get_subcommand(word);
    }
    const CLI::App* parent = about->get_parent();
    return context_.console.result(wrapped_help(about->help(parent ? full_name(parent) : ""),
                                                help_width(context_.console.out)));
  }

  CLI::App* deepest() {
    CLI::App* command = &app_;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return command;
  }

  static std::vector<std::string> command_names(const CLI::App* command) {
    std::vector<std::string> names;
    for (const CLI::App* one : command->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(one->get_name());
    }
    return names;
  }

  /// "sterna data fetch"
  static std::string full_name(const CLI::App* command) {
    return command->get_parent() ? full_name(command->get_parent()) + " " + command->get_name()
                                 : command->get_name();
  }

  /// The first word that no command took, or "".
  std::string unexpected() {
    for (const std::string& word : app_.remaining(true)) {
      if (word != "--") return word;
    }
    return "";
  }

  int complain(const std::string& word) {
    CLI::App* command = deepest();
    if (word.starts_with("-")) {
      std::vector<std::string> options;
      for (const CLI::Option* option : command->get_options()) {
        for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
      }
      const std::string bare = word.substr(0, word.find('='));
      return usage_error(fmt::format("unknown option \"{}\"{}", bare, did_you_mean(bare, options)));
    }
    const std::vector<std::string> commands = command_names(command);
    if (commands.empty()) return usage_error(fmt::format("unexpected argument \"{}\"", word));
    if (word.ends_with(".toml")) {
      return usage_error(fmt::format("unknown command \"{0}\"; did you mean \"run {0}\"?", word));
    }
    return usage_error(
        fmt::format("unknown command \"{}\"{}", word, command_meant(word, commands)));
  }

  int usage_error(std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    const std::string name = full_name(deepest());
    if (message.back() != '?') message += fmt::format("; see {} --help", name);
    context_.console.say(name + ": " + message);
    return kExitBadInput;
  }

  const Context context_;
  const std::vector<Command> commands_ = all_commands();
  CLI::App app_;
  const Command* chosen_ = nullptr;  ///< the command that was given
};

}  // namespace

int command_line(int argc, const char* const* argv, const Registry& registry,
                 const Console& console) {
  try {
    return CommandLine({console, registry}).parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    console.say(fmt::format("sterna: internal error: {}", error.what()));
    return kExitFailed;
  }
}

}  // namespace sterna::launcher
