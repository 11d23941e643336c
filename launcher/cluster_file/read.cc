// From TOML to a Draft: every key of the text and of the overrides is looked up in the table of
// keys.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "launcher/cluster_file/draft.h"
#include "launcher/cluster_file/toml_tree.h"
#include "launcher/text/nearest.h"

namespace sterna::launcher {
namespace {

std::string joined(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

/// Whether one of them is the other with further words: "every" and "every_steps".
bool is_longer_name(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  return !b.empty() && a.starts_with(b) && a.substr(b.size()).starts_with('_');
}

/// The nearest full key name, section and key weighed alike, so that a key written under the wrong
/// table is found too.
std::string suggest(std::string_view section, std::string_view key, const ClusterKeys& keys) {
  std::string best;
  std::size_t best_cost = 0;
  keys.for_each([&](const auto& candidate_section) {
    const bool near_section = is_near(section, candidate_section.name);
    for (const auto& candidate : candidate_section.keys) {
      const bool named_alike =
          section == candidate_section.name && is_longer_name(key, candidate.name);
      if (!named_alike && !is_near(key, candidate.name)) continue;
      // A slip in a key stays within its table; only an exact name is looked for in the others,
      // which the file itself, with its format, is none of.
      if (!near_section && (key != candidate.name || candidate_section.name.empty())) continue;
      const std::size_t cost =
          edit_distance(section, candidate_section.name) + edit_distance(key, candidate.name);
      if (best.empty() || cost < best_cost) {
        best = joined(candidate_section.name, candidate.name);
        best_cost = cost;
      }
    }
  });
  return best;
}

std::vector<std::string> section_names(const ClusterKeys& keys) {
  std::vector<std::string> names;
  keys.for_each([&](const auto& section) {
    if (!section.name.empty()) names.emplace_back(section.name);
  });
  return names;
}

template <class T>
constexpr bool kIsList = false;
template <class S>
constexpr bool kIsList<std::vector<S>&> = true;

template <class S>
std::string list_of_keys(const Section<S>& section) {
  std::string list;
  for (const Key<S>& key : section.keys) {
    list += list.empty() ? "" : ", ";
    list += key.name;
  }
  return list;
}

class Reader {
 public:
  Reader(Draft& draft, Problems& problems) : draft_(draft), problems_(problems) {}

  void read(const Value::Table& document) {
    for (const Value::Entry& entry : document) {
      if (entry.value.get<Value::Table>() || is_list_of_tables(entry.value)) {
        read_table(entry);
      } else {
        assign_key("", keys_.root, entry, {entry.line, ""}, draft_.root);
      }
    }
  }

  /// Without any [[host]] there is this machine, which overrides can then change, unless the placer
  /// brings the hosts. An override may name the placer, too.
  void add_default_host(std::span<const std::string> overrides) {
    if (!draft_.hosts.empty()) return;
    std::string placer = draft_.cluster.placer;
    for (const std::string& text : overrides) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || trimmed(text.substr(0, equals)) != "cluster.placer")
        continue;
      const std::optional<Value> value = override_value(trimmed(text.substr(equals + 1)));
      if (value && value->get<std::string>()) placer = *value->get<std::string>();
    }
    if (!placer_traits(placer).brings_hosts) draft_.hosts.emplace_back();
  }

  /// One "path=value".
  void apply(const std::string& text) {
    const Where where{0, text};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return problems_.add(where, "write it as key=value, e.g. --set job.steps=100");
    }
    const std::string path = trimmed(text.substr(0, equals));
    const std::optional<Value> value = override_value(trimmed(text.substr(equals + 1)));
    if (!value) return problems_.add(where, "the value is not valid UTF-8 text");
    const std::size_t dot = path.find('.');
    const std::string section = dot == std::string::npos ? "" : path.substr(0, dot);
    const std::string rest = dot == std::string::npos ? path : path.substr(dot + 1);
    Value::Entry entry{rest, 0, *value};
    if (section.empty()) return assign_key("", keys_.root, entry, where, draft_.root);
    if (section == "host") {
      return override_in_list(keys_.host, draft_.hosts, entry, where,
                              [](const HostSection& host) { return host.name; });
    }
    if (section == "actor") {
      return override_in_list(keys_.actor, draft_.actors, entry, where,
                              [](const ActorSection& actor) {
                                if (!actor.name.empty()) return actor.name;
                                return actor.role.empty() ? actor.type : actor.role;
                              });
    }
    // [[inject.delay]]: all of them, as one value.
    if (with_section(path, [&](const auto& keys, auto& target) {
          if constexpr (kIsList<decltype(target)>) {
            target.clear();
            std::erase_if(draft_.given,
                          [&](const auto& one) { return one.first.starts_with(path + "."); });
            read_list({path, 0, *value}, where, keys, target);
          }
        })) {
      return;
    }
    const bool known = with_section(section, [&](const auto& keys, auto& target) {
      if constexpr (!kIsList<decltype(target)>) assign_key(section, keys, entry, where, target);
    });
    if (!known) unknown_key(section, rest, where);
  }

 private:
  static std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
  }

  static bool is_list_of_tables(const Value& value) {
    const auto* array = value.get<Value::Array>();
    return array && !array->empty() && array->front().get<Value::Table>();
  }

  /// TOML's value syntax where it is valid, and else the text itself.
  static std::optional<Value> override_value(const std::string& text) {
    for (const std::string& syntax : {text, toml_quoted(text)}) {
      const auto parsed = parse_toml("value = " + syntax);
      const auto* table = std::get_if<Value::Table>(&parsed);
      if (table && table->size() == 1 && table->front().key == "value") {
        return table->front().value;
      }
    }
    return std::nullopt;
  }

  /// Calls visit(keys, target) for the single (not repeated) section of this name.
  template <class Visitor>
  bool with_section(std::string_view name, Visitor&& visit) {
    bool known = false;
    const auto on = [&](const auto& keys, auto& target) {
      if (keys.name != name) return;
      visit(keys, target);
      known = true;
    };
    on(keys_.cluster, draft_.cluster);
    on(keys_.program, draft_.program);
    on(keys_.log, draft_.log);
    on(keys_.metrics, draft_.metrics);
    on(keys_.job, draft_.job);
    actors::for_each_section(draft_, on);
    on(keys_.deadlines, draft_.deadlines);
    on(keys_.fault, draft_.faults);
    on(keys_.chaos, draft_.chaos);
    return known;
  }

  void read_table(const Value::Entry& entry) {
    const Where where{entry.line, ""};
    if (entry.key == "host") return read_list(entry, where, keys_.host, draft_.hosts);
    if (entry.key == "actor") return read_list(entry, where, keys_.actor, draft_.actors);
    const auto* table = entry.value.get<Value::Table>();
    draft_.given[entry.key] = where;
    const bool known = with_section(entry.key, [&](const auto& keys, auto& target) {
      if constexpr (!kIsList<decltype(target)>) {
        if (!table) {
          problems_.add(
              where, fmt::format("there is one [{0}] only; write [{0}], not [[{0}]]", entry.key));
          return;
        }
        read_keys(entry.key, keys, *table, target);
      }
    });
    if (known || (table && read_lists_within(entry.key, *table))) return;
    const auto names = section_names(keys_);
    // Of a dotted key the whole path is shown; of a table's header its name.
    if (table && !entry.value.header && !table->empty()) {
      return unknown_key(entry.key, table->front().key, where);
    }
    std::string advice = did_you_mean(entry.key, names);
    if (advice.empty()) advice = fmt::format("; the tables are {}", fmt::join(names, ", "));
    problems_.add(where, fmt::format("unknown table \"{}\"{}", entry.key, advice));
  }

  /// [[outer.name]]s, where there are such sections.
  bool read_lists_within(const std::string& outer, const Value::Table& table) {
    bool any = false;
    keys_.for_each([&](const auto& section) {
      any = any || (section.list && section.name.starts_with(outer + "."));
    });
    if (!any) return false;
    for (const Value::Entry& entry : table) {
      const std::string name = joined(outer, entry.key);
      const Where where{entry.line, ""};
      const bool known = with_section(name, [&](const auto& keys, auto& target) {
        if constexpr (kIsList<decltype(target)>) {
          read_list({name, entry.line, entry.value}, where, keys, target);
        }
      });
      if (!known) unknown_key(outer, entry.key, where);
    }
    return true;
  }

  /// Of a file, or of an override: that has no lines, but a text.
  template <class S>
  void read_list(const Value::Entry& entry, const Where& where, const Section<S>& keys,
                 std::vector<S>& out) {
    const auto at = [&](int line) { return where.line == 0 ? where : Where{line, ""}; };
    const auto* array = entry.value.get<Value::Array>();
    if (!array) {
      return problems_.add(
          where, fmt::format("there may be several {0}s; write [[{0}]], not [{0}]", entry.key));
    }
    draft_.given[entry.key] = where;
    for (const Value& item : *array) {
      const std::string path = joined(entry.key, std::to_string(out.size()));
      const auto* table = item.get<Value::Table>();
      if (!table) {
        problems_.add(at(item.line), fmt::format("write every {0} as a table [[{0}]]", entry.key));
        continue;
      }
      draft_.given[path] = at(item.line);
      S section;
      for (const Value::Entry& inner : *table) {
        assign_key(path, keys, inner, at(inner.line), section);
      }
      for (const Key<S>& key : keys.keys) {
        const auto names_it = [&](const Value::Entry& inner) { return inner.key == key.name; };
        if (!key.required || std::ranges::any_of(*table, names_it)) continue;
        problems_.add(at(item.line),
                      fmt::format("the key \"{}\" is missing", joined(entry.key, key.name)));
      }
      out.push_back(std::move(section));
    }
  }

  template <class S>
  void read_keys(const std::string& path, const Section<S>& keys, const Value::Table& table,
                 S& target) {
    for (const Value::Entry& entry : table) {
      assign_key(path, keys, entry, {entry.line, ""}, target);
    }
  }

  template <class S>
  void assign_key(const std::string& path, const Section<S>& keys, const Value::Entry& entry,
                  const Where& where, S& target) {
    const auto key = std::find_if(keys.keys.begin(), keys.keys.end(),
                                  [&](const Key<S>& known) { return known.name == entry.key; });
    const std::string shown = joined(keys.name, entry.key);
    if (key == keys.keys.end()) {
      const auto names = section_names(keys_);
      if (keys.name.empty() && std::find(names.begin(), names.end(), entry.key) != names.end()) {
        return problems_.add(where, fmt::format("\"{0}\" is a table; set one of its keys, see "
                                                "sterna help keys",
                                                entry.key));
      }
      return unknown_key(std::string(keys.name), entry.key, where);
    }
    Value value = entry.value;
    if (!where.override_text.empty() && key->field.template is<std::string>() &&
        !value.get<std::string>()) {
      // --set cluster.name=2024: a bare word, whatever else it looks like.
      value.data = trimmed(where.override_text.substr(where.override_text.find('=') + 1));
    }
    if (const Complaint complaint = assign(value, *key, target)) {
      const auto* text = value.get<std::string>();
      const std::vector<std::string> choices(key->choices.begin(), key->choices.end());
      return problems_.add(where, fmt::format("\"{}\" {}{}", shown, *complaint,
                                              text ? did_you_mean(*text, choices) : ""));
    }
    draft_.given[joined(path, entry.key)] = where;
  }

  void unknown_key(const std::string& section, const std::string& key, const Where& where) {
    const std::string suggestion = suggest(section, key, keys_);
    std::string advice;
    if (!suggestion.empty()) {
      advice = fmt::format("; did you mean \"{}\"?", suggestion);
    } else {
      keys_.for_each([&](const auto& known) {
        if (known.name == section && !section.empty()) {
          advice = fmt::format("; the keys of [{}] are {}", section, list_of_keys(known));
        }
      });
      if (key == "format") advice += "; that of the file stands before all tables";
      if (advice.empty()) advice = "; sterna help keys lists all keys";
    }
    problems_.add(where, fmt::format("unknown key \"{}\"{}", joined(section, key), advice));
  }

  /// host.0.address or host.NAME.address; likewise actor.1.count or actor.worker.count.
  template <class S, class NameOf>
  void override_in_list(const Section<S>& keys, std::vector<S>& list, const Value::Entry& entry,
                        const Where& where, NameOf name_of) {
    const std::size_t dot = entry.key.rfind('.');
    if (dot == std::string::npos) {
      return problems_.add(
          where, fmt::format("there may be several {0}s; say which: {0}.NAME.{1} or {0}.0.{1}",
                             keys.name, entry.key));
    }
    const std::string which = entry.key.substr(0, dot);
    std::size_t index = list.size();
    const auto parsed = std::from_chars(which.data(), which.data() + which.size(), index);
    if (parsed.ec != std::errc() || parsed.ptr != which.data() + which.size()) {
      const auto found = std::find_if(list.begin(), list.end(),
                                      [&](const S& item) { return name_of(item) == which; });
      index = static_cast<std::size_t>(found - list.begin());
    }
    if (index >= list.size()) {
      std::vector<std::string> names;
      names.reserve(list.size());
      for (const S& item : list) names.push_back(name_of(item));
      return problems_.add(where, fmt::format("the file has no {} \"{}\"; it has {}", keys.name,
                                              which, fmt::join(names, ", ")));
    }
    Value::Entry inner{entry.key.substr(dot + 1), 0, entry.value};
    assign_key(fmt::format("{}.{}", keys.name, index), keys, inner, where, list[index]);
  }

  Draft& draft_;
  Problems& problems_;
  const ClusterKeys keys_ = cluster_keys();
};

}  // namespace

Draft read_draft(std::string_view text, std::span<const std::string> overrides,
                 Problems& problems) {
  Draft draft;
  const auto document = parse_toml(text);
  if (const auto* error = std::get_if<TomlError>(&document)) {
    problems.add({error->line, ""}, "not valid TOML: " + error->message);
    return draft;
  }
  Reader reader(draft, problems);
  reader.read(std::get<Value::Table>(document));
  reader.add_default_host(overrides);
  for (const std::string& text_of_override : overrides) reader.apply(text_of_override);
  return draft;
}

}  // namespace sterna::launcher
