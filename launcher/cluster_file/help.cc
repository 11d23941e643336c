// The table of keys in words: for `sterna help keys`, docs/keys.md and error messages.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "launcher/cluster_file/keys.h"
#include "launcher/text/nearest.h"

namespace sterna::launcher {
namespace {

constexpr std::string_view kMustBeGiven = "must be given";

template <class S>
KeyDescription describe_key(const Section<S>& section, const Key<S>& key) {
  const S defaults;
  KeyDescription result;
  result.key =
      section.name.empty() ? std::string(key.name) : fmt::format("{}.{}", section.name, key.name);
  result.type = kTypeNames[key.field.index()];
  if (key.required) {
    result.default_value = kMustBeGiven;
  } else {
    result.default_value =
        key.default_note.empty() ? toml_text(key, defaults) : std::string(key.default_note);
  }
  result.allowed = key.choices.empty() ? describe(key.limits) : describe(key.choices);
  const bool duration = std::holds_alternative<Duration S::*>(key.field);
  if (duration && !result.allowed.empty()) result.allowed += "s";
  result.help = key.help;
  return result;
}

}  // namespace

std::vector<SectionDescription> describe_keys() {
  std::vector<SectionDescription> sections;
  cluster_keys().for_each([&](const auto& section) {
    SectionDescription described;
    described.name = section.name;
    if (!section.name.empty()) {
      described.title =
          section.list ? fmt::format("[[{}]]", section.name) : fmt::format("[{}]", section.name);
    }
    described.help = section.help;
    for (const auto& key : section.keys) described.keys.push_back(describe_key(section, key));
    sections.push_back(std::move(described));
  });
  return sections;
}

Result<std::vector<SectionDescription>> describe_keys(std::string_view word) {
  const std::size_t begin = std::min(word.find_first_not_of('['), word.size());
  const std::string_view bare =
      word.substr(begin, word.find_last_not_of(']') - begin + 1);  // of "[[actor]]"
  std::vector<SectionDescription> meant;
  std::vector<std::string> names;
  for (SectionDescription& section : describe_keys()) {
    if (!section.name.empty()) names.push_back(section.name);
    for (const KeyDescription& key : section.keys) names.push_back(key.key);
    if (section.name.empty() || section.name != bare) {
      std::erase_if(section.keys, [&](const KeyDescription& key) { return key.key != bare; });
    }
    if (!section.keys.empty()) meant.push_back(std::move(section));
  }
  if (!meant.empty()) return meant;
  return Error{Errc::not_found, fmt::format("no section and no key is called \"{}\"{}", word,
                                            did_you_mean(bare, names))};
}

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const SectionDescription& section : describe_keys()) {
    for (const KeyDescription& key : section.keys) names.push_back(key.key);
  }
  return names;
}

std::string keys_as_text(const std::vector<SectionDescription>& sections) {
  std::string text =
      "The keys of a cluster file (TOML); --set KEY=VALUE changes one for one run.\n\n";
  std::size_t widest = 0;
  for (const SectionDescription& section : sections) {
    for (const KeyDescription& key : section.keys) widest = std::max(widest, key.key.size());
  }
  auto out = std::back_inserter(text);
  for (const SectionDescription& section : sections) {
    if (!text.ends_with("\n\n")) text += "\n";
    if (!section.title.empty()) fmt::format_to(out, "{}  {}\n", section.title, section.help);
    for (const KeyDescription& key : section.keys) {
      fmt::format_to(out, "  {:<{}}  {}\n", key.key, widest, key.help);
      // Choices say their type themselves.
      const bool choices = key.allowed.starts_with('"');
      fmt::format_to(out, "  {:<{}}  {}", "", widest, choices ? key.allowed : key.type);
      if (!choices && !key.allowed.empty()) fmt::format_to(out, ", {}", key.allowed);
      if (key.default_value != kMustBeGiven) text += "; default: ";
      if (key.default_value == kMustBeGiven) text += "; ";
      text += key.default_value + "\n";
    }
  }
  return text;
}

std::string keys_as_markdown(const std::vector<SectionDescription>& sections) {
  std::string text =
      "| key | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const SectionDescription& section : sections) {
    for (const KeyDescription& key : section.keys) {
      fmt::format_to(std::back_inserter(text), "| `{}` | {} | {} | {} | {} |\n", key.key, key.type,
                     key.default_value, key.allowed, key.help);
    }
  }
  return text;
}

}  // namespace sterna::launcher
