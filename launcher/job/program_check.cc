#include "launcher/job/program_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include "launcher/text/json_line.h"
#include "launcher/text/nearest.h"
#include "runtime/host/piped_process.h"
#include "runtime/link/link.h"

namespace sterna::launcher {
namespace {

constexpr Duration kDescribing = std::chrono::seconds(10);
constexpr std::size_t kLongestDescription = 16U << 20;

Error no_sterna_program(const std::string& path, const std::string& instead) {
  return {Errc::invalid_argument,
          fmt::format("program.path {} does not answer to --describe --json ({}): is its main "
                      "sterna::main?",
                      path, instead)};
}

/// What the program at `path` answers on its standard output.
Result<std::string> ask(RealMachine& machine, const std::string& path,
                        const std::vector<std::string>& words, const std::string& input = "") {
  std::string output;
  std::optional<ProcessExit> exit;
  PipedProcess::Events events;
  events.output = [&](std::string_view bytes) {
    if (output.size() < kLongestDescription) output += bytes;
  };
  events.exited = [&](const ProcessExit& how) { exit = how; };
  std::vector<std::string> command = {path};
  command.insert(command.end(), words.begin(), words.end());
  STERNA_ASSIGN(const auto process,
                PipedProcess::start(machine.loop(), command, std::move(events)));
  if (!input.empty()) process->write(copy_bytes(std::as_bytes(std::span(input))));
  process->close_input();
  machine.loop().run_until([&] { return exit.has_value(); }, machine.loop().now() + kDescribing);
  if (exit && exit->clean()) return output;
  return Error{Errc::invalid_argument, exit ? exit->text() : "it takes too long"};
}

/// Every actor type with the names of its arguments.
using Types = std::map<std::string, std::vector<std::string>>;

Result<void> check_actors(const ClusterFile& file, const Types& types) {
  std::vector<std::string> names;
  for (const auto& [name, keys] : types) names.push_back(name);
  for (const ActorPlan& actor : file.actors) {
    if (actor.type.empty()) continue;
    const auto type = types.find(actor.type);
    if (type == types.end()) {
      std::string advice = did_you_mean(actor.type, names);
      if (advice.empty()) advice = fmt::format("; there are {}", fmt::join(names, ", "));
      return Error{Errc::invalid_argument, fmt::format("{}: the program has no actor type \"{}\"{}",
                                                       actor.name, actor.type, advice)};
    }
    const Json args = Json::parse(actor.args_json.empty() ? "{}" : actor.args_json, nullptr, false);
    if (!args.is_object()) continue;
    for (const auto& [key, value] : args.items()) {
      const auto& keys = type->second;
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      std::string advice = did_you_mean(key, keys);
      if (advice.empty()) advice = fmt::format("; it has {}", fmt::join(keys, ", "));
      return Error{Errc::invalid_argument,
                   fmt::format("{}: the type \"{}\" has no argument \"{}\"{}", actor.name,
                               actor.type, key, advice)};
    }
  }
  return {};
}

/// Has the program itself read each actor's arguments, as its processes will.
Result<void> check_values(RealMachine& machine, const std::string& path, const ClusterFile& file) {
  std::vector<const ActorPlan*> asked;
  std::string lines;
  for (const ActorPlan& actor : file.actors) {
    if (actor.type.empty()) continue;
    const Json args = Json::parse(actor.args_json.empty() ? "{}" : actor.args_json, nullptr, false);
    lines += json_line({{"type", actor.type}, {"args", args}}) + "\n";
    asked.push_back(&actor);
  }
  const Result<std::string> text = ask(machine, path, {"--check-args"}, lines);
  if (!text) {
    return Error{Errc::invalid_argument,
                 fmt::format("program.path {} does not answer to --check-args ({})", path,
                             text.error().message)};
  }
  std::istringstream answers(*text);
  for (const ActorPlan* actor : asked) {
    std::string complaint;
    if (!std::getline(answers, complaint)) complaint = "the program did not look at its arguments";
    if (!complaint.empty()) {
      return Error{Errc::invalid_argument, complaint}.in(actor->name);
    }
  }
  return {};
}

}  // namespace

Result<Program> check_program(RealMachine& machine, const Registry& own, const ClusterFile& file) {
  Program program;
  if (file.program.path.empty()) {
    program.schema_hash = own.schema_hash();
    for (const ActorPlan& actor : file.actors) {
      if (actor.type.empty()) continue;
      Result<Bytes> args =
          own.args_from_json(actor.type, actor.args_json.empty() ? "{}" : actor.args_json);
      if (!args) return std::move(args).error().in(actor.name);
    }
    return program;
  }
  std::error_code failed;
  program.path = std::filesystem::canonical(file.program.path, failed).string();
  if (failed) return system_error("program.path " + file.program.path, failed.value());
  const Result<std::string> text = ask(machine, program.path, {"--describe", "--json"});
  if (!text) return no_sterna_program(program.path, text.error().message);
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return no_sterna_program(program.path, "it says something else");
  Types types;
  try {
    program.schema_hash = std::stoull(json.at("schema_hash").get<std::string>(), nullptr, 16);
    if (json.at("protocol") != kProtocolVersion) {
      return Error{Errc::invalid_argument,
                   fmt::format("program.path {} speaks another protocol than this sterna: build it "
                               "against this one",
                               program.path)};
    }
    for (const Json& actor : json.at("actors")) {
      std::vector<std::string>& keys = types[actor.at("type")];
      for (const Json& argument : actor.at("args")) keys.push_back(argument.at("key"));
    }
  } catch (const std::exception&) {  // of a key that is not there, or of another type
    return no_sterna_program(program.path, "it describes itself otherwise");
  }
  STERNA_TRY(check_actors(file, types));
  // A program of before would take it for a word of its user's.
  if (json.value("checks_args", Json()) == true) {
    STERNA_TRY(check_values(machine, program.path, file));
  }
  return program;
}

}  // namespace sterna::launcher
