// The table of keys in words: for `sterna help keys`, docs/keys.md and error messages.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "launcher/cluster_file/keys.h"
#include "launcher/text/nearest.h"

namespace sterna::launcher {
namespace {

constexpr std::string_view kMustBeGiven = "must be given";

/// What docs/keys.md says before its tables.
constexpr std::string_view kMarkdownHead = R"(# Every key of a cluster file

This page is what `sterna help keys --markdown` prints; `sterna help keys gradient` prints one section, and
`sterna help keys job.batch` one key. The file is TOML. Of `[[host]]`, `[[actor]]`, `[[inject.delay]]` and
`[[inject.fault]]` there may be several, each with its own `[[...]]`; of every other section there is one. A key that is
left out has its default: a value as it would stand in the file, or, where that depends, what is taken in words.

| type | how it is written |
| --- | --- |
| duration | a number and `ns`, `us`, `ms`, `s`, `m` or `h`, in quotes: `"500ms"`, `"1.5m"`; at most 366 days |
| size | a number and `B`, `kB`, `MB`, `GB`, `TB`, or `KiB`, `MiB`, `GiB`, `TiB`, in quotes: `"4GB"` |
| rate | a size a second: `"10MB/s"` |
| port range | `"40000-40100"`, both ends included, or `"any"` |
| list | in brackets: `["test", "train"]`, `[300, 100]` |
| table | in braces: `{ "fc3/weights" = "none" }` |

`--set KEY=VALUE` changes a key for one run, and may be given several times. VALUE is written as in the file, but text
needs no quotes. A list or a table has to be quoted for the shell: `--set 'evaluator.subsets=["test", "train"]'`.

| `--set` | changes |
| --- | --- |
| `job.steps=100` | a key of a section |
| `actor.worker.count=4` | of the first `[[actor]]` of that name, or, where it has none, of that role or type |
| `actor.1.count=4` | of the second `[[actor]]` of the file |
| `host.node1.gpus=2` | of the `[[host]]` of that name, or by number, `host.0.gpus=2`; a file without any has `localhost` |
| `inject.delay=[{ranks = [7], delay = "180ms"}]` | all `[[inject.delay]]`: the file's own are gone; `inject.fault` likewise |
)";

template <class S>
KeyDescription describe_key(const Section<S>& section, const Key<S>& key) {
  const S defaults;
  KeyDescription result;
  result.key =
      section.name.empty() ? std::string(key.name) : fmt::format("{}.{}", section.name, key.name);
  result.type = kTypeNames[key.field.kind()];
  if (key.required) {
    result.default_value = kMustBeGiven;
  } else {
    result.default_value =
        key.default_note.empty() ? toml_text(key, defaults) : std::string(key.default_note);
  }
  result.allowed = key.choices.empty() ? describe(key.limits) : describe(key.choices);
  const bool duration = key.field.template is<Duration>();
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
  std::string text(kMarkdownHead);
  auto out = std::back_inserter(text);
  for (const SectionDescription& section : sections) {
    if (!section.title.empty()) {
      fmt::format_to(out, "\n## `{}`\n\n{}\n", section.title, section.help);
    } else {
      text += "\n## Above all sections\n";
    }
    text += "\n| key | type | default | allowed | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const KeyDescription& key : section.keys) {
      fmt::format_to(out, "| `{}` | {} | {} | {} | {} |\n", key.key, key.type, key.default_value,
                     key.allowed, key.help);
    }
  }
  return text;
}

}  // namespace sterna::launcher
