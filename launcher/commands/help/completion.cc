#include "launcher/commands/help/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "launcher/cluster_file/keys.h"

namespace sterna::launcher {
namespace {

using Strings = std::vector<std::string>;

bool is_word(const Argument& argument) { return !argument.name.starts_with('-'); }
bool is_flag(const Argument& argument) { return std::holds_alternative<bool*>(argument.into); }

/// "-f,--follow" as {"-f", "--follow"}.
Strings spellings(const Argument& argument) {
  Strings all;
  std::string_view rest = argument.name;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    all.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return all;
}

/// Calls visit(path, command) for each command and each part, "data make" after "data".
template <class Visit>
void for_each_command(const std::vector<Command>& commands, const std::string& before,
                      Visit&& visit) {
  for (const Command& command : commands) {
    const std::string path = before.empty() ? command.name : before + " " + command.name;
    visit(path, command);
    for_each_command(command.parts, path, visit);
  }
}

Strings names_of(const std::vector<Command>& commands) {
  Strings names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

/// Of one command, what may stand next where no value is awaited.
Strings words_of(const Command& command) {
  Strings words = names_of(command.parts);
  for (const Argument& argument : command.arguments) {
    const Strings next = is_word(argument) ? argument.choices : spellings(argument);
    words.insert(words.end(), next.begin(), next.end());
  }
  words.emplace_back("--help");
  return words;
}

std::string bash(const std::vector<Command>& commands) {
  std::string paths, values, words;
  for_each_command(commands, "", [&](const std::string& path, const Command& command) {
    paths += fmt::format("{}'{}'", paths.empty() ? "" : "|", path);
    for (const Argument& argument : command.arguments) {
      if (is_word(argument) || is_flag(argument)) continue;
      for (const std::string& spelling : spellings(argument)) {
        const bool keys = spelling == "--set";
        values += fmt::format("    '{} {}') ", path, spelling);
        if (keys) {
          values += "_sterna_keys; return ;;\n";
        } else if (!argument.choices.empty()) {
          values += fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                                fmt::join(argument.choices, " "));
        } else {
          values += "_sterna_files; return ;;\n";
        }
      }
    }
    const bool files = std::ranges::any_of(command.arguments, is_word);
    words += fmt::format("    '{}') words='{}'; files={} ;;\n", path,
                         fmt::join(words_of(command), " "), files ? 1 : 0);
  });
  return fmt::format(R"(# Completion of sterna's command line.
_sterna_files() {{
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen -f -- "$word"))
}}
_sterna_keys() {{
  compopt -o nospace 2>/dev/null
  COMPREPLY=($(compgen -S = -W '{keys}' -- "$word"))
}}
_sterna() {{
  COMPREPLY=()
  local word=${{COMP_WORDS[COMP_CWORD]}} at= next= words='{commands} --help --version' files=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{at:+$at }}${{COMP_WORDS[i]}}"
    case $next in
      {paths}) at=$next ;;
    esac
  done
  case "$at ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{values}  esac
  case $at in
{words}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ $files == 0 || $word == -* ]] || _sterna_files
}}
complete -F _sterna sterna
)",
                     fmt::arg("keys", fmt::join(key_names(), " ")),
                     fmt::arg("commands", fmt::join(names_of(commands), " ")),
                     fmt::arg("paths", paths), fmt::arg("values", values),
                     fmt::arg("words", words));
}

/// Within single quotes of fish.
std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string fish(const std::vector<Command>& commands) {
  std::string out = "# Completion of sterna's command line.\n";
  const auto offer = [&](const std::string& when, const Command& command) {
    out += fmt::format("complete -c sterna -n {} -f -a {} -d {}\n", fish_quoted(when), command.name,
                       fish_quoted(command.help));
  };
  for (const Command& command : commands) offer("__fish_use_subcommand", command);
  for_each_command(commands, "", [&](const std::string& path, const Command& command) {
    std::string seen;
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      seen += fmt::format("{}__fish_seen_subcommand_from {}", seen.empty() ? "" : "; and ",
                          rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    const std::string none_of_its = fmt::format("{}; and not __fish_seen_subcommand_from {}", seen,
                                                fmt::join(names_of(command.parts), " "));
    for (const Command& part : command.parts) offer(none_of_its, part);
    for (const Argument& argument : command.arguments) {
      if (is_word(argument)) continue;
      std::string names;
      for (const std::string& spelling : spellings(argument)) {
        const bool is_long = spelling.starts_with("--");
        names += fmt::format(" {} {}", is_long ? "-l" : "-s", spelling.substr(is_long ? 2 : 1));
      }
      std::string value = is_flag(argument) ? "" : " -r";
      if (!argument.choices.empty()) {
        value = " -x -a " + fish_quoted(fmt::format("{}", fmt::join(argument.choices, " ")));
      } else if (argument.name == "--set") {
        value = " -x -a " + fish_quoted(fmt::format("{}=", fmt::join(key_names(), "= ")));
      }
      out += fmt::format("complete -c sterna -n {}{}{} -d {}\n", fish_quoted(seen), names, value,
                         fish_quoted(argument.help));
    }
  });
  return out;
}

/// A line of roff that is no request.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string completion(const std::vector<Command>& commands, const std::string& shell) {
  if (shell == "fish") return fish(commands);
  if (shell == "bash") return bash(commands);
  return "#compdef sterna\nautoload -U +X compinit && compinit\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash(commands);
}

std::string man_page(const std::vector<Command>& commands) {
  std::string out =
      ".TH STERNA 1\n.SH NAME\nsterna \\- trains image classifiers across ordinary machines\n"
      ".SH SYNOPSIS\n.B sterna\n.I COMMAND\n[\\fIARGUMENT\\fR ...]\n.SH COMMANDS\n";
  for_each_command(commands, "", [&](const std::string& path, const Command& command) {
    std::string words;
    for (const Argument& argument : command.arguments) {
      if (!is_word(argument)) continue;
      words += argument.required ? " " + argument.name : " [" + argument.name + "]";
    }
    out += fmt::format(".SS {}\n{}.\n", roff("sterna " + path + words), roff(command.help));
    for (const Argument& argument : command.arguments) {
      std::string name = argument.name;
      if (!argument.type.empty()) name += " " + argument.type;
      out += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(full_help(argument)));
    }
    const std::string end = help_end(command);
    if (!end.empty()) out += ".PP\n.nf\n" + roff(end) + "\n.fi\n";
  });
  out +=
      ".SH EXIT STATUS\n0 done, 1 failed, 2 bad input, 130 Ctrl\\-C.\n"
      ".SH FILES\nThe keys of a cluster file: \\fBsterna help keys\\fR.\n";
  return out;
}

}  // namespace sterna::launcher
