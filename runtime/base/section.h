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

/// An enum where it lies, by the number of its value: `choices` of the key has the names, in order.
struct EnumPlace {
  void* member;
  std::size_t (*get)(const void* member);
  void (*set)(void* member, std::size_t value);
};
/// Where the value of a key lies.
using Place =
    std::variant<std::int64_t*, std::uint64_t*, std::uint32_t*, double*, bool*, std::string*,
                 Duration*, std::vector<std::string>*, std::vector<std::int64_t>*,
                 std::vector<std::uint32_t>*, std::vector<double>*, std::optional<PortRange>*,
                 ByteCount*, std::map<std::string, std::string>*, JsonObject*, TrueOrText*,
                 ByteRate*, Numbers*, EnumPlace>;
template <class At>
inline constexpr std::size_t kKind = Place(At{}).index();
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

/// A member of S. What it is comes out of `in`, so that what is done with it is compiled once, not
/// for each section.
template <class S>
class Field {
 public:
  Field() = default;
  template <class T>
  Field(T S::*member)  // NOLINT(google-explicit-constructor): of a key's, as it stands there
      : member_(reinterpret_cast<char S::*>(member)), in_(place<T>), kind_(kKind<T*>) {}
  template <auto member>
  static Field of_enum() {
    Field field;
    field.kind_ = kKind<EnumPlace>;
    field.in_ = [](S& section, char S::* /*member*/) -> Place {
      using E = std::remove_reference_t<decltype(section.*member)>;
      return EnumPlace{
          &(section.*member),
          [](const void* at) { return static_cast<std::size_t>(*static_cast<const E*>(at)); },
          [](void* at, std::size_t value) { *static_cast<E*>(at) = static_cast<E>(value); }};
    };
    return field;
  }
  Place in(S& section) const { return in_(section, member_); }
  /// Which alternative of Place that is.
  std::size_t kind() const { return kind_; }
  template <class T>
  bool is() const {
    return kind_ == kKind<T*>;
  }

 private:
  template <class T>
  static Place place(S& section, char S::*member) {
    return &(section.*reinterpret_cast<T S::*>(member));
  }
  char S::*member_ = nullptr;
  Place (*in_)(S& section, char S::*member) = nullptr;
  std::size_t kind_ = 0;
};

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
};

/// A key whose member is an enum, with the names of its values from 0 on.
template <auto member>
auto enum_key(std::string_view name, std::vector<std::string_view> names, std::string_view help) {
  using S = typename MemberOf<decltype(member)>::Section;
  Key<S> result;
  result.name = name;
  result.field = Field<S>::template of_enum<member>();
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

/// Puts the value of the key `name` where it lies, or says in words why it does not fit; what was
/// there is then unchanged.
Complaint assign(const Value& value, const ValueRule& rule, std::string_view name,
                 const Place& into);
template <class S>
Complaint assign(const Value& value, const Key<S>& key, S& section) {
  return assign(value, key, key.name, key.field.in(section));
}

/// As TOML.
std::string text_of(const ValueRule& rule, std::string_view name, const Place& at);
template <class S>
std::string toml_text(const Key<S>& key, const S& section) {
  return text_of(key, key.name, key.field.in(const_cast<S&>(section)));  // it is only read
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
      Result<void> taken = read(section.name, key, key.name, key.field.in(out));
      if (!taken) return taken;
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
  Result<void> read(std::string_view section, const ValueRule& rule, std::string_view name,
                    const Place& into);
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
