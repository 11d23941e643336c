#include "actors/checkpoint/manifest.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "actors/job/sections.h"
#include "runtime/base/file.h"
#include "runtime/base/hex.h"

namespace sterna::actors {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kFormat = 1;
constexpr std::size_t kMostParts = 1U << 17;
/// Positions beyond it leave no room for those of steps to come.
constexpr std::uint64_t kMostPosition = std::uint64_t{1} << 62;
/// What so many parts and a cluster file take.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

Error wrong(const std::string& what) {
  return {Errc::malformed, "not a checkpoint's manifest: " + what};
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return c != '/' && static_cast<unsigned char>(c) >= ' ' && c != 127;
         });
}

/// "HOST:/FOLDER"
bool is_copy_place(std::string_view place) {
  constexpr std::size_t kLongest = 4096 + 256;
  const std::size_t colon = place.find(':');
  return colon != std::string_view::npos && place.size() <= kLongest &&
         is_plain_name(place.substr(0, colon)) && place.substr(colon + 1).starts_with('/') &&
         std::ranges::all_of(
             place, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 127; });
}

std::optional<Hash> parse_hash(std::string_view hex) {
  Hash hash{};
  if (hex.size() != 2 * hash.size()) return std::nullopt;
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const int high = digit(hex[2 * i]);
    const int low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    hash[i] = static_cast<std::byte>(high * 16 + low);
  }
  return hash;
}

/// A member of an object, of the type asked for.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}
  Result<std::uint64_t> number(const char* name, std::uint64_t most = UINT64_MAX) const {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_number_unsigned() ||
        found->get<std::uint64_t>() > most) {
      return wrong(std::string(name) + " is no natural number, or too large");
    }
    return found->get<std::uint64_t>();
  }
  Result<std::string> text(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_string()) {
      return wrong(std::string(name) + " is no text");
    }
    return found->get<std::string>();
  }

 private:
  const Json& object_;
};

Result<Manifest::Part> parse_part(const Json& json) {
  if (!json.is_object()) return wrong("a part is no object");
  const Members members(json);
  Manifest::Part part;
  STERNA_ASSIGN(part.actor, members.text("actor"));
  STERNA_ASSIGN(part.file, members.text("file"));
  if (!is_plain_name(part.file)) return wrong("a part's file is no plain name");
  STERNA_ASSIGN(part.bytes, members.number("bytes"));
  STERNA_ASSIGN(const std::string hex, members.text("blake2b"));
  const std::optional<Hash> hash = parse_hash(hex);
  if (!hash) return wrong("a part's blake2b is no hash of 16 bytes");
  part.hash = *hash;
  return part;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  Json parts = Json::array();
  for (const Manifest::Part& part : manifest.parts) {
    parts.push_back({{"actor", part.actor},
                     {"file", part.file},
                     {"bytes", part.bytes},
                     {"blake2b", to_hex(part.hash)}});
  }
  Json json = {
      {"format", kFormat},        {"run", manifest.run},           {"net", manifest.net},
      {"step", manifest.step},    {"position", manifest.position}, {"ranks", manifest.ranks},
      {"parts", std::move(parts)}};
  if (!manifest.copy.empty()) json["copy"] = manifest.copy;
  if (manifest.precision) {
    json["precision_at_1"] = manifest.precision->at_1;
    json["precision_examples"] = manifest.precision->examples;
  }
  json["resolved"] = manifest.resolved;
  json["note"] = manifest.note;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Manifest> parse_manifest(std::string_view text) {
  constexpr int kDeepest = 3;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(text, shallow, false);
  if (!json.is_object()) return wrong("no JSON object");
  const Members members(json);
  STERNA_ASSIGN(const std::uint64_t format, members.number("format"));
  if (format != kFormat) return wrong("another format than 1");
  Manifest manifest;
  if (json.contains("run")) {
    STERNA_ASSIGN(manifest.run, members.text("run"));
  }
  STERNA_ASSIGN(manifest.net, members.text("net"));
  STERNA_ASSIGN(manifest.step, members.number("step", static_cast<std::uint64_t>(kMostSteps)));
  STERNA_ASSIGN(manifest.position, members.number("position", kMostPosition));
  STERNA_ASSIGN(const std::uint64_t ranks, members.number("ranks", 65536));
  if (ranks == 0) return wrong("ranks is 0");
  manifest.ranks = static_cast<std::uint32_t>(ranks);
  STERNA_ASSIGN(manifest.resolved, members.text("resolved"));
  const auto parts = json.find("parts");
  if (parts == json.end() || !parts->is_array() || parts->size() > kMostParts) {
    return wrong("parts is no list");
  }
  if (parts->empty()) return wrong("it has no parts");
  std::set<std::string> files;
  for (const Json& one : *parts) {
    STERNA_ASSIGN(Manifest::Part part, parse_part(one));
    if (!files.insert(part.file).second) return wrong("a part comes twice");
    manifest.parts.push_back(std::move(part));
  }
  if (json.contains("copy")) {
    STERNA_ASSIGN(manifest.copy, members.text("copy"));
    if (!is_copy_place(manifest.copy)) return wrong("copy is no host and folder");
  }
  if (const auto precision = json.find("precision_at_1"); precision != json.end()) {
    if (!precision->is_number()) return wrong("precision_at_1 is no number");
    manifest.precision = MeasuredPrecision{precision->get<double>()};
    if (json.contains("precision_examples")) {
      STERNA_ASSIGN(manifest.precision->examples, members.number("precision_examples"));
    }
  }
  if (const auto note = json.find("note"); note != json.end()) {
    if (!note->is_object()) return wrong("note is no object");
    for (const auto& [key, value] : note->items()) {
      if (!value.is_string()) return wrong("note holds more than texts");
      manifest.note[key] = value.get<std::string>();
    }
  }
  return manifest;
}

Result<Manifest> read_manifest(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / kManifestFile;
  STERNA_ASSIGN(const std::string text, read_file(path, kMostBytes));
  return parse_manifest(text).in(path.string());
}

Result<void> write_manifest(const std::string& folder, const Manifest& manifest) {
  return write_atomically(std::filesystem::path(folder) / kManifestFile, to_json(manifest));
}

}  // namespace sterna::actors
