#include "launcher/plots/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>

namespace sterna::launcher {
namespace {

constexpr std::string_view kActor = "actor";

/// These say what was measured of a run and kept, and what was to happen to it, but not how it
/// trained.
constexpr std::array kOther = {
    "data.dir",         "checkpoint.",     "deadlines.",       "log.",
    "metrics.",         "summary.",        "trace.",           "chaos.",
    "evaluator.every",  "evaluator.batch", "evaluator.behind", "evaluator.of",
    "evaluator.subsets"};
/// Likewise, of an actor.
constexpr std::array kOtherOfActor = {"role", "restart", "within", "backoff"};

std::string unquoted(std::string value) {
  std::erase(value, '"');
  return value;
}

bool is_number(const std::string& text) {
  constexpr std::size_t kDigits = 9;
  return !text.empty() && text.size() <= kDigits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

/// Of tables in a list the values stand beside each other, but actors are counted.
void add(std::string& all, const std::string& value, bool count) {
  if (count && is_number(all) && is_number(value)) {
    all = std::to_string(std::stoi(all) + std::stoi(value));
  } else {
    all += (all.empty() ? "" : "; ") + value;
  }
}

/// "batch" of "job.batch", "scheme" of "scheme.name"; whole where another's is called the same.
std::string shown_key(const std::string& key, const std::vector<std::string>& all) {
  const auto brief = [](const std::string& one) {
    const std::size_t dot = std::min(one.rfind('.'), one.size());
    const std::string last = dot == one.size() ? one : one.substr(dot + 1);
    return last == "name" && dot > 0 ? one.substr(0, dot) : last;
  };
  const auto same = std::ranges::count_if(
      all, [&](const std::string& other) { return brief(other) == brief(key); });
  return same > 1 ? key : brief(key);
}

std::string in_words(const std::string& key, const std::string& value,
                     const std::vector<std::string>& all) {
  const bool none = value.empty() || value == "[]" || value == "{}";
  const std::string shown = none ? "none" : value;
  if (key.find('.') != std::string::npos) return shown_key(key, all) + " " + shown;
  std::string actors = key;
  if (value == "1") actors.pop_back();
  std::ranges::replace(actors, '_', ' ');
  return shown + " " + actors;
}

}  // namespace

RunFile read_run_file(const std::string& run) {
  RunFile file;
  std::ifstream in(run + "/resolved.toml");
  std::string section;
  std::string role(kActor);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('[')) {
      const std::size_t begin = std::min(line.find_first_not_of('['), line.size());
      section = line.substr(begin, line.find(']') - begin);
    }
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals);
    const std::string value = line.substr(equals + 3);
    const bool actor = section == kActor;
    if (actor && name == "role") role = unquoted(value);
    if (actor && std::ranges::count(kOtherOfActor, name) > 0) continue;
    const bool count = actor && name == "count";
    add(file.keys[count ? role + "s" : (actor ? role : section) + "." + name], value, count);
  }
  file.seed = file.keys["job.seed"];
  const std::string& resume = file.keys["checkpoint.resume"];
  file.resumes = !resume.empty() && resume != "false";
  file.keys.erase("job.seed");
  std::erase_if(file.keys, [](const auto& one) {
    return std::ranges::any_of(kOther,
                               [&](const char* other) { return one.first.starts_with(other); });
  });
  return file;
}

std::vector<std::string> differences(const std::vector<std::map<std::string, std::string>>& files) {
  std::set<std::string> all;
  for (const auto& file : files) {
    for (const auto& [key, value] : file) all.insert(key);
  }
  const auto value_of = [](const auto& file, const std::string& key) {
    const auto found = file.find(key);
    return found == file.end() ? std::string("none") : found->second;
  };
  std::vector<std::string> differing;
  for (const std::string& key : all) {
    const bool same = std::ranges::all_of(files, [&](const auto& file) {
      return value_of(file, key) == value_of(files.front(), key);
    });
    if (!same && key != "cluster.name") differing.push_back(key);
  }
  constexpr std::size_t kMostKeys = 3;
  if (differing.size() > kMostKeys) differing.clear();
  std::vector<std::string> words;
  for (const auto& file : files) {
    std::string word;
    for (const std::string& key : differing) {
      word += (word.empty() ? "" : ", ") + in_words(key, unquoted(value_of(file, key)), differing);
    }
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace sterna::launcher
