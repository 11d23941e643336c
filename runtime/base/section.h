// Section<S>: the keys of a struct S, each with its member, range, choices and help; its default is
// the member's initializer. The cluster file, its help, the resolved file, the checks, and what
// travels to actors are all made from such tables, so that they cannot disagree.
//
// The canonical text of a section is TOML with every key explicit, in the order of the table.
// SectionReader reads exactly that, within bounds: for bytes of peers. Files that people write are
// the launcher's business.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/base/value.h"

namespace sterna {

/// What the components of a section (optimizers, schedules) are tuned by, by key. A component looks
/// its own up once.
using Numbers = std::map<std::string_view, double>;

/// A key that a component brings. Its texts live as long as the program.
struct NumberKey {
  std::string_view name;
  double initial = 0;
  Limits limits;
  std::string_view help;
};

/// An enum's values by name: `choices` of the key has their names, in order.
template <class S>
struct EnumField {
  std::size_t (*get)(const S& section);
  void (*set)(S& section, std::size_t value);
};

template <class S>
using Field =
    std::variant<std::int64_t S::*, std::uint64_t S::*, std::uint32_t S::*, double S::*, bool S::*,
                 std::string S::*, Duration S::*, std::vector<std::string> S::*,
                 std::vector<std::int64_t> S::*, std::vector<std::uint32_t> S::*,
                 std::vector<double> S::*, std::optional<PortRange> S::*, ByteCount S::*,
                 std::map<std::string, std::string> S::*, JsonObject S::*, TrueOrText S::*,
                 ByteRate S::*, Numbers S::*, EnumField<S>>;
/// What the help calls them.
constexpr std::array<std::string_view, 19> kTypeNames = {"integer",
                                                         "integer",
                                                         "integer",
                                                         "number",
                                                         "true or false",
                                                         "text",
                                                         "duration",
                                                         "list of text",
                                                         "list of integers",
                                                         "list of integers",
                                                         "list of numbers",
                                                         "port range",
                                                         "size",
                                                         "table of text",
                                                         "table",
                                                         "true, false or text",
                                                         "rate",
                                                         "number",
                                                         "text"};

/// One key of section S.
template <class S>
struct Key : ValueRule {
  std::string_view name;
  Field<S> field;
  std::string_view help;
  std::string_view default_note = {};         ///< for defaults that depend on other keys
  std::vector<std::string_view> owners = {};  ///< values of `name` that it is for; empty: all
  bool required = false;

  Key&& one_of(std::vector<std::string_view> values) && {
    choices = std::move(values);
    return std::move(*this);
  }
  Key&& at_least(double low) && {
    limits.low = low;
    return std::move(*this);
  }
  Key&& above(double low) && {
    limits.low = low;
    limits.low_open = true;
    return std::move(*this);
  }
  Key&& at_most(double high) && {
    limits.high = high;
    return std::move(*this);
  }
  Key&& below(double high) && {
    limits.high = high;
    limits.high_open = true;
    return std::move(*this);
  }
  Key&& defaults_to(std::string_view note) && {
    default_note = note;
    return std::move(*this);
  }
  Key&& must_be_given() && {
    required = true;
    return std::move(*this);
  }
  Key&& is_identifier() && {
    identifier = true;
    return std::move(*this);
  }
};

template <class S, class T>
Key<S> key(std::string_view name, T S::*field, std::string_view help) {
  Key<S> result;
  result.name = name;
  result.field = field;
  result.help = help;
  return result;
}

template <class>
struct MemberOf;
template <class S, class T>
struct MemberOf<T S::*> {
  using Section = S;
  using Value = T;
};

/// A key whose member is an enum, with the names of its values from 0 on.
template <auto member>
auto enum_key(std::string_view name, std::vector<std::string_view> names, std::string_view help) {
  using S = typename MemberOf<decltype(member)>::Section;
  using E = typename MemberOf<decltype(member)>::Value;
  Key<S> result;
  result.name = name;
  result.field =
      EnumField<S>{[](const S& section) { return static_cast<std::size_t>(section.*member); },
                   [](S& section, std::size_t value) { section.*member = static_cast<E>(value); }};
  result.help = help;
  result.choices = std::move(names);
  return result;
}

/// Each of these keys as it is where nobody sets it.
inline void add_initial(Numbers& numbers, std::span<const NumberKey> brought) {
  for (const NumberKey& one : brought) numbers[one.name] = one.initial;
}

/// The keys that the component `owner` (empty: whichever) brings, with their values in `numbers`.
/// One that another has brought is of both.
template <class S>
void append_keys(std::vector<Key<S>>& keys, std::span<const NumberKey> brought, Numbers S::*numbers,
                 std::string_view owner) {
  for (const NumberKey& one : brought) {
    auto place = std::find_if(keys.begin(), keys.end(),
                              [&](const Key<S>& known) { return known.name == one.name; });
    if (place == keys.end()) {
      place = keys.insert(place, key(one.name, numbers, one.help));
      place->limits = one.limits;
    }
    if (!owner.empty()) place->owners.push_back(owner);
  }
}

/// One table: [name], or [[name]] where `list`.
template <class S>
struct Section {
  std::string_view name;
  bool list = false;
  std::string_view help;
  std::vector<Key<S>> keys;
};

/// Puts a value into its field, or says in words why it does not fit; the field is then unchanged.
template <class S>
Complaint assign(const Value& value, const Key<S>& key, S& section) {
  const auto into = [&](const auto& field) -> Complaint {
    using F = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<F, EnumField<S>>) {
      std::string name;
      if (Complaint complaint = convert(value, key, name)) return complaint;
      std::size_t index = 0;
      while (key.choices[index] != name) ++index;
      field.set(section, index);
      return std::nullopt;
    } else if constexpr (std::is_same_v<F, Numbers S::*>) {
      return convert(value, key, (section.*field)[key.name]);
    } else {
      return convert(value, key, section.*field);
    }
  };
  return std::visit(into, key.field);
}

template <class S>
std::string toml_text(const Key<S>& key, const S& section) {
  const auto text = [&](const auto& field) {
    using F = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<F, EnumField<S>>) {
      return toml_quoted(key.choices[field.get(section)]);
    } else if constexpr (std::is_same_v<F, Numbers S::*>) {
      return toml_text((section.*field).at(key.name));
    } else {
      return toml_text(section.*field);
    }
  };
  return std::visit(text, key.field);
}

template <class S>
std::string header(const Section<S>& section) {
  if (section.name.empty()) return "";
  return std::string(section.list ? "[[" : "[").append(section.name) +
         (section.list ? "]]\n" : "]\n");
}

/// The canonical text, without the keys of which leave_out(key) is true.
template <class S, class LeaveOut>
void append_section(std::string& out, const Section<S>& section, const S& values,
                    LeaveOut leave_out) {
  out += header(section);
  for (const Key<S>& key : section.keys) {
    if (leave_out(key)) continue;
    out.append(key.name).append(" = ").append(toml_text(key, values)).append("\n");
  }
}
template <class S>
void append_section(std::string& out, const Section<S>& section, const S& values) {
  append_section(out, section, values, [](const Key<S>&) { return false; });
}
/// Of a section that there may be several of: all, one after the other.
template <class S>
void append_section(std::string& out, const Section<S>& section, const std::vector<S>& all) {
  for (const S& values : all) append_section(out, section, values);
}

/// Reads canonical texts, one section after the other, and nothing but them; from anybody: memory
/// stays a small multiple of the text's size, lists have at most kMostItems.
class SectionReader {
 public:
  static constexpr std::size_t kMostItems = 65536;

  /// `text` outlives the reader.
  explicit SectionReader(std::string_view text) : rest_(text) {}

  /// Errors: malformed, with the section's and the key's name.
  template <class S>
  Result<void> read(const Section<S>& section, S& out) {
    if (!skip(header(section))) return wrong(section.name, "", "is not there");
    for (const Key<S>& key : section.keys) {
      Value value;
      if (!skip(key.name) || !skip(" = ") || !read_value(value, true) || !skip("\n")) {
        return wrong(section.name, key.name, "cannot be read");
      }
      if (const Complaint complaint = assign(value, key, out)) {
        return wrong(section.name, key.name, *complaint);
      }
    }
    return {};
  }
  /// All of a section that there may be several of.
  template <class S>
  Result<void> read(const Section<S>& section, std::vector<S>& all) {
    while (rest_.starts_with(header(section))) {
      if (all.size() == kMostItems) return wrong(section.name, "", "stands there too often");
      if (Result<void> one = read(section, all.emplace_back()); !one) return one;
    }
    return {};
  }
  bool at_end() const { return rest_.empty(); }

 private:
  static Error wrong(std::string_view section, std::string_view key, std::string_view what);
  bool skip(std::string_view expected);
  /// A value, or with `nested` also a list or table of values that are neither.
  bool read_value(Value& value, bool nested);
  bool read_array(Value& value);
  bool read_table(Value& value);
  bool read_quoted(std::string& out);
  bool read_number(Value& value);

  std::string_view rest_;
};

}  // namespace sterna
