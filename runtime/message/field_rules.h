// What a list of fields (fields.h) says of a message as data, for tests that break each rule and
// for whoever must know that nothing was forgotten; its text for people; where and why a decoding
// ended.
#pragma once

#include <capnp/message.h>
#include <capnp/schema.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/message/field_checks.h"
#include "runtime/message/refusal.h"

namespace sterna {

/// What the type of a field and the list say of its value.
struct FieldLimits {
  enum class Kind {
    open,       ///< any value will do
    number,     ///< least, most
    real,       ///< finite, least, most
    time,       ///< nanoseconds: least, most
    size,       ///< of a text, bytes or a list: least, most
    enumerant,  ///< known
    address,    ///< of an actor of one interface
  };
  Kind kind = Kind::open;
  std::optional<double> least = {};
  std::optional<double> most = {};
  bool any = false;  ///< of floats, or times: none is refused but by its bounds
  bool secret = false;
};

struct FieldRule : FieldLimits {
  std::string field;   ///< as the schema names it, with dots where a struct lies in a struct
  std::string member;  ///< as the struct names it: "load_bytes"
};

struct MessageFields {
  std::string_view message;
  capnp::StructSchema schema;
  std::vector<FieldRule> rules;

  /// Empty if the list has each field of the schema once; else which it has not, or twice.
  std::string complaint() const;
};

namespace detail {

/// "LoadBytes" as the schema has it: "loadBytes".
std::string schema_name(const char* accessor);

/// Each with `prefix` before its name.
void append_rules(std::vector<FieldRule>& rules, const std::string& prefix,
                  const std::vector<FieldRule>& more);
/// Of the field `prefix` + schema_name(`accessor`).
void append_rule(std::vector<FieldRule>& rules, const std::string& prefix, const char* accessor,
                 const char* member, const FieldLimits& limits);

template <class Member>
constexpr FieldLimits limits_of() {
  using Kind = FieldLimits::Kind;
  if constexpr (kIsList<Member>) return {Kind::size, {}, kMostElements};
  if constexpr (Sized<Member>) return {Kind::size};
  if constexpr (kIsHash<Member>) return {Kind::size, sizeof(Member), sizeof(Member)};
  if constexpr (std::same_as<Member, Duration>) return {Kind::time, 0, kMostTime.count()};
  if constexpr (std::floating_point<Member>) return {Kind::real};
  if constexpr (std::is_enum_v<Member>) return {Kind::enumerant};
  if constexpr (kIsActorRef<Member>) return {Kind::address};
  if constexpr (Measured<Member>) return {Kind::number};
  return {};
}
constexpr double as_double(Duration bound) { return static_cast<double>(bound.count()); }
template <class Number>
constexpr double as_double(Number bound) {
  return static_cast<double>(bound);
}
template <class Check>
constexpr void limit(FieldLimits& limits, const Check& check) {
  if constexpr (Most<Check>) {
    limits.most = as_double(check.most);
  } else if constexpr (Least<Check>) {
    limits.least = as_double(check.least);
  } else if constexpr (std::same_as<Check, field_checks::Secret>) {
    limits.secret = true;
  } else {
    limits.any = true;
  }
}

template <class T>
struct FieldLister {
  const std::string& prefix;
  std::vector<FieldRule>& rules;
  template <class... Fields>
  bool operator()(const Fields&... fields) const {
    (list(fields), ...);
    return true;
  }

 private:
  template <class Field>
  void list(const Field& field) const {
    using Member = std::remove_cvref_t<decltype(field.member(std::declval<T&>()))>;
    FieldLimits limits = limits_of<Member>();
    field.with_checks([&](const auto&... checks) {
      (limit(limits, checks), ...);
      return true;
    });
    append_rule(rules, prefix, field.name, field.path, limits);
    list_inner<Member>(field.name);
  }
  template <class Member>
  void list_inner(const char* name) const {
    if constexpr (kIsList<Member>) {
      list_inner<typename Member::value_type>(name);
    } else if constexpr (requires { Member::fields(); }) {
      append_rules(rules, prefix + schema_name(name) + ".", Member::fields().rules);
    } else if constexpr (Listed<Member> && !requires { &Member::decode; }) {
      const std::string inner = prefix + schema_name(name) + ".";
      visit_fields(FieldLister<Member>{inner, rules}, std::type_identity<Member>{});
    }
  }
};

template <class M>
MessageFields describe(std::string_view name) {
  MessageFields fields{name, capnp::Schema::from<typename M::Wire>(), {}};
  visit_fields(FieldLister<M>{{}, fields.rules}, std::type_identity<M>{});
  return fields;
}

/// Of the message that is the builder's root.
std::string text_of(const MessageFields& fields, capnp::MessageBuilder& message);

std::string shown(Duration value);
std::string shown(double value);
std::string shown(std::int64_t value);
std::string shown(std::uint64_t value);
template <class T>
std::string shown(T value) {
  if constexpr (std::floating_point<T>) {
    return shown(double{value});
  } else if constexpr (std::signed_integral<T>) {
    return shown(std::int64_t{value});
  } else {
    return shown(static_cast<std::uint64_t>(value));
  }
}

template <class A, class B>
constexpr bool below(A a, B b) {
  if constexpr (std::integral<A> && std::integral<B>) {
    return std::cmp_less(a, b);
  } else {
    return a < b;
  }
}

/// Apart, and never inlined: a list of fields would hold it for each of its bounds.
template <class Measure, class Bound>
[[gnu::cold, gnu::noinline]] bool beyond(Measure measure, const char* which, Bound bound,
                                         Refusal& refusal) {
  return refusal.because(shown(measure) + which + shown(bound));
}

template <class Measure, class Check>
bool holds(const Measure& measure, const Check& check, Refusal& refusal) {
  if constexpr (Most<Check> || Least<Check>) {
    constexpr bool kOfTime = std::same_as<Check, field_checks::AtMost<Duration>> ||
                             std::same_as<Check, field_checks::AtLeast<Duration>>;
    static_assert(kOfTime == std::same_as<Measure, Duration>, "a time is bounded by a time");
  }
  if constexpr (Most<Check>) {
    return !below(check.most, measure) || beyond(measure, ", at most ", check.most, refusal);
  } else if constexpr (Least<Check>) {
    return !below(measure, check.least) || beyond(measure, ", at least ", check.least, refusal);
  }
  return true;
}

template <class Measure, class... Checks>
bool bounded(const Measure& measure, Refusal& refusal, const Checks&... checks) {
  return (holds(measure, checks, refusal) && ...);
}

}  // namespace detail

/// "Pull{version: 3, chunks: [0, 1, 2], kind: parameters, codec: fp32}": bulk as its size, secrets
/// not at all.
template <class M>
requires requires { M::fields(); }
std::string to_string(const M& message) {
  capnp::MallocMessageBuilder builder;
  WireWriter writer(builder.getOrphanage());
  message.encode(builder.initRoot<typename M::Wire>(), writer);
  return detail::text_of(M::fields(), builder);
}

}  // namespace sterna
