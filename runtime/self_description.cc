#include "runtime/self_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
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
                    {"actors", std::move(actors)}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

int print(const Result<std::string>& line) {
  if (!line) {
    std::fprintf(stderr, "sterna: %s\n", line.error().message.c_str());
    return 1;
  }
  return std::puts(line->c_str()) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

std::optional<int> answer_about_itself(int argc, char** argv, const Registry& registry) {
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  using Words = std::vector<std::string_view>;
  if (words == Words{"__bundle-hash"}) return print(bundle_hash());
  if (words == Words{"--describe", "--json"}) return print(description(registry));
  return std::nullopt;
}

}  // namespace sterna
