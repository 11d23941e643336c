#include "runtime/self_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "runtime/link/link.h"
#include "runtime/message/json_args.h"
#include "runtime/remote/build_id.h"
#include "runtime/remote/bundle.h"

namespace sterna {

namespace {

using json = nlohmann::ordered_json;

constexpr int kDescriptionFormat = 1;

Result<std::filesystem::path> this_program() {
  std::error_code code;
  const auto program = std::filesystem::canonical("/proc/self/exe", code);
  if (code) return system_error("cannot find this program: /proc/self/exe", code.value());
  return program;
}

Result<std::string> bundle_hash() {
  STERNA_ASSIGN(const auto program, this_program());
  STERNA_ASSIGN(const Bundle bundle, read_bundle(program.parent_path().parent_path()));
  return bundle.hash;
}

/// `within`: the structs that this one lies in.
json describe(capnp::StructSchema schema, std::vector<std::uint64_t>& within) {
  json arguments = json::array();
  within.push_back(schema.getProto().getId());
  for (const auto field : schema.getFields()) {
    capnp::Type type = field.getType();
    json argument = {{"key", field.getProto().getName().cStr()}, {"type", type_name(type)}};
    while (type.isList()) type = type.asList().getElementType();
    if (type.isEnum()) {
      json& values = argument["values"] = json::array();
      for (const auto enumerant : type.asEnum().getEnumerants()) {
        values.push_back(enumerant.getProto().getName().cStr());
      }
    } else if (type.isStruct() &&
               std::count(within.begin(), within.end(), type.asStruct().getProto().getId()) == 0) {
      argument["fields"] = describe(type.asStruct(), within);
    }
    arguments.push_back(std::move(argument));
  }
  within.pop_back();
  return arguments;
}

Result<std::string> description(const Registry& registry) {
  STERNA_ASSIGN(const auto program, this_program());
  json actors = json::array();
  for (const auto& [name, type] : registry.types()) {
    std::vector<std::uint64_t> within;
    actors.push_back({{"type", name}, {"args", describe(type.args, within)}});
  }
  const json all = {{"format", kDescriptionFormat},
                    {"program", program.filename().string()},
                    {"protocol", kProtocolVersion},
                    {"schema_hash", fmt::format("{:016x}", registry.schema_hash())},
                    {"build_id", own_build_id()},
                    {"actors", std::move(actors)},
                    {"checks_args", true}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

int print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

int print_line(const Result<std::string>& line) {
  if (line) return print(*line + "\n");
  std::fprintf(stderr, "sterna: %s\n", line.error().message.c_str());
  return 1;
}

Result<void> check_args_of(const Registry& registry, const std::string& line) {
  const json actor = json::parse(line, nullptr, false);
  const bool told = actor.is_object() && actor.contains("type") && actor["type"].is_string() &&
                    actor.contains("args");
  if (!told) return Error{Errc::malformed, "no object with a type and args"};
  const std::string args = actor["args"].dump(-1, ' ', false, json::error_handler_t::replace);
  STERNA_TRY(registry.args_from_json(actor["type"].get<std::string>(), args));
  return {};
}

}  // namespace

std::string check_args(const Registry& registry, std::istream& lines) {
  std::string answers;
  for (std::string line; std::getline(lines, line);) {
    const Result<void> good = check_args_of(registry, line);
    std::string complaint = good ? "" : good.error().message;
    std::ranges::replace(complaint, '\n', ' ');
    answers += complaint + "\n";
  }
  return answers;
}

std::optional<int> answer_about_itself(int argc, char** argv, const Registry& registry) {
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  using Words = std::vector<std::string_view>;
  if (words == Words{"__bundle-hash"}) return print_line(bundle_hash());
  if (words == Words{"--describe", "--json"}) return print_line(description(registry));
  if (words == Words{"--check-args"}) return print(check_args(registry, std::cin));
  return std::nullopt;
}

}  // namespace sterna
