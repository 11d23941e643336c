// What a message's struct and its Cap'n Proto struct have in common, written once: a list of
// fields, from which encode(), decode(), a text for people and the rules that tests break follow.
//
//   struct ProbePeer {
//     using Wire = schema::ProbePeer;
//     std::string peer;
//     std::uint32_t pings = 1;
//     STERNA_DECLARE_MESSAGE(ProbePeer);  // its list stands in a .cc:
//   };
//   STERNA_MESSAGE(ProbePeer, FIELD(peer, Peer, not_empty), FIELD(pings, Pings, at_most(1000)))
//
// Where one file has both, STERNA_INLINE_MESSAGE(ProbePeer, FIELD...) in the class is all.
// STERNA_FIELDS(T, FIELD...) lists a struct that only travels within messages. A member may be a
// path (identity.name, credit[0]); fields are written in the order of the list.
//
// The type decides what a peer may send: enums are known, floats finite, times from 0 to a year,
// lists of at most kMostElements, an ActorRef of its interface, hashes of their size. The list says
// only what differs (field_checks.h), and `Result<void> check() const` of a message what takes two
// fields. Who sends what breaks a rule is told so: it is not sent (EnvelopeEncoder::encode).
#pragma once

#include <cmath>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/message/field_checks.h"
#include "runtime/message/field_rules.h"
#include "runtime/message/known_enum.h"
#include "runtime/message/list_bound.h"

namespace sterna::detail {

enum class Access { get, set, init, adopt };
template <Access kAccess>
using Do = std::integral_constant<Access, kAccess>;

template <class Member, class Accessor, class... Checks>
struct Field {
  const char* name;                     ///< "LoadBytes"
  const char* path;                     ///< "load_bytes"
  [[no_unique_address]] Member member;  ///< of a message: the member
  [[no_unique_address]] Accessor accessor;
  [[no_unique_address]] std::tuple<Checks...> checks;
  /// What `use` makes of them; most fields have none.
  template <class Use>
  constexpr bool with_checks(const Use& use) const {
    if constexpr (sizeof...(Checks) == 0) {
      return use();
    } else {
      return std::apply(use, checks);
    }
  }
};
template <class Member, class Accessor, class... Checks>
constexpr auto field(const char* name, const char* path, Member member, Accessor accessor,
                     Checks... checks) {
  return Field<Member, Accessor, Checks...>{name, path, member, accessor, {checks...}};
}

inline kj::StringPtr as_text(const std::string& text) { return {text.c_str(), text.size()}; }

/// Whether a receiver takes a list of so many.
template <class... Checks>
bool list_bounded(std::size_t size, Refusal& refusal, const Checks&... checks) {
  if constexpr (!(Most<Checks> || ...)) {
    if (!bounded(size, refusal, field_checks::at_most(kMostElements))) return false;
  }
  return bounded(size, refusal, checks...);
}

/// Whether a receiver takes `value`, by its type and what the list says; of a list its size only,
/// of a struct nothing.
template <class T, class... Checks>
bool allowed(const T& value, Refusal& refusal, const Checks&... checks) {
  constexpr bool kAnyFloat = kHas<field_checks::AnyFloat, Checks...>;
  constexpr bool kAnyTime = kHas<field_checks::AnyTime, Checks...>;
  static_assert(Measured<T> || !((Most<Checks> || Least<Checks>) || ...),
                "at_most(), at_least(), not_empty are of numbers, times, texts, bytes and lists");
  static_assert(!kAnyFloat || std::floating_point<T>, "any_float is of floats");
  static_assert(!kAnyTime || std::same_as<T, Duration>, "any_time is of times");
  if constexpr (kIsList<T>) {
    return list_bounded(value.size(), refusal, checks...);
  } else if constexpr (Sized<T>) {
    return bounded(value.size(), refusal, checks...);
  } else if constexpr (std::same_as<T, Duration>) {
    if constexpr (kAnyTime) return bounded(value, refusal, checks...);
    return bounded(value, refusal, field_checks::at_least(Duration::zero()),
                   field_checks::at_most(kMostTime), checks...);
  } else if constexpr (std::is_enum_v<T>) {
    return known_enum(value) || refusal.because(shown(value));
  } else if constexpr (Measured<T>) {
    if constexpr (std::floating_point<T> && !kAnyFloat) {
      if (!std::isfinite(value)) return refusal.because(shown(value) + " is not finite");
    }
    return bounded(value, refusal, checks...);
  }
  return true;
}

template <class T, class Builder>
void encode_struct(const T& value, Builder wire, WireWriter& writer);

/// Writes what lies at `place`, a field or an element; the writer keeps the first refusal, with
/// where it was.
template <class Place, class Encode>
void encode_at(Place place, WireWriter& writer, Encode encode) {
  Refusal& refusal = writer.refusal();
  const bool refused_before = !refusal.what.empty();
  encode();
  if (!refused_before && !refusal.what.empty()) refusal.within(place);
}

/// Refuses what a receiver would, unless something is refused already.
template <class T, class... Checks>
void look_at(const T& value, WireWriter& writer, const Checks&... checks) {
  if (writer.refusal().what.empty()) (void)allowed(value, writer.refusal(), checks...);
}

template <class T, class Accessor, class Builder, class... Checks>
void encode_value(const T& value, Accessor at, Builder wire, WireWriter& writer,
                  const Checks&... checks) {
  look_at(value, writer, checks...);
  if constexpr (std::same_as<T, std::string>) {
    at(Do<Access::set>{}, wire, as_text(value));
  } else if constexpr (std::same_as<T, Bytes>) {
    at(Do<Access::adopt>{}, wire, writer.data(value));
  } else if constexpr (std::same_as<T, Duration>) {
    at(Do<Access::set>{}, wire, value.count());
  } else if constexpr (Id<T>) {
    at(Do<Access::set>{}, wire, value.value);
  } else if constexpr (kIsHash<T>) {
    auto to = at(Do<Access::init>{}, wire, static_cast<unsigned>(value.size()));
    std::memcpy(to.begin(), value.data(), value.size());
  } else if constexpr (kIsList<T>) {
    using Element = typename T::value_type;
    auto list = at(Do<Access::init>{}, wire, static_cast<unsigned>(value.size()));
    for (unsigned i = 0; i < value.size(); ++i) {
      if constexpr (Struct<Element>) {
        encode_at(i, writer, [&] { encode_struct(value[i], list[i], writer); });
      } else if constexpr (std::same_as<Element, std::string>) {
        list.set(i, as_text(value[i]));
      } else {
        static_assert(!std::is_class_v<Element>, "no list of these");
        const Element element = value[i];
        encode_at(i, writer, [&] { look_at(element, writer); });
        list.set(i, element);
      }
    }
  } else if constexpr (Struct<T>) {
    encode_struct(value, at(Do<Access::init>{}, wire), writer);
  } else {
    at(Do<Access::set>{}, wire, value);
  }
}

template <class T, class Builder>
struct FieldEncoder {
  const T& value;
  Builder wire;
  WireWriter& writer;
  template <class... Fields>
  bool operator()(const Fields&... fields) const {
    (encode(fields), ...);
    return true;
  }
  template <class Field>
  void encode(const Field& field) const {
    encode_at(field.name, writer, [&] {
      field.with_checks([&](const auto&... checks) {
        encode_value(field.member(value), field.accessor, wire, writer, checks...);
        return true;
      });
    });
  }
};

template <class T, class Builder>
void encode_struct(const T& value, Builder wire, WireWriter& writer) {
  if constexpr (requires { value.encode(wire, writer); }) {
    value.encode(wire, writer);
  } else {
    static_assert(Listed<T>,
                  "no type of a message's member: they are numbers, bool, enums of the schema, "
                  "std::string, Bytes, Duration, ids, hashes, ActorRef, structs with a list of "
                  "fields, and std::vectors of these");
    const FieldEncoder<T, Builder> encoder{value, wire, writer};
    visit_fields(encoder, std::type_identity<T>{});
  }
}

template <class M>
void encode_message(std::string_view name, const M& message, typename M::Wire::Builder wire,
                    WireWriter& writer) {
  Refusal& refusal = writer.refusal();
  const bool refused_before = !refusal.what.empty();
  const FieldEncoder<M, typename M::Wire::Builder> encoder{message, wire, writer};
  visit_fields(encoder, std::type_identity<M>{});
  if constexpr (requires { message.check(); }) {
    if (refusal.what.empty()) {
      if (const Result<void> checked = message.check(); !checked)
        refusal.because(checked.error().message);
    }
  }
  if (!refused_before && !refusal.what.empty()) refusal.of(name);
}

/// Whether a member of type T takes what the schema's accessor gives.
template <class T, class Got>
consteval bool fits() {
  if constexpr (std::same_as<T, std::string>) return std::same_as<Got, capnp::Text::Reader>;
  if constexpr (std::same_as<T, Bytes> || kIsHash<T>) return std::same_as<Got, capnp::Data::Reader>;
  if constexpr (std::same_as<T, Duration>) return std::same_as<Got, std::int64_t>;
  if constexpr (Id<T>) return std::same_as<Got, std::uint64_t>;
  if constexpr (kIsList<T> && requires(Got got) { got[0]; }) {
    return fits<typename T::value_type, std::remove_cvref_t<decltype(std::declval<Got>()[0])>>();
  }
  if constexpr (Struct<T>) return requires {
      typename Got::Reads;
    };
  return std::same_as<T, Got>;
}

template <class T, class Reader>
bool decode_struct(T& value, Reader wire, WireReader& reader, Refusal& refusal);

template <class T, class List, class... Checks>
bool decode_list(T& value, const List& list, WireReader& reader, Refusal& refusal,
                 const Checks&... checks) {
  // All that is checked before anything is made of it.
  if (!list_bounded(list.size(), refusal, checks...)) return false;
  if constexpr (Struct<typename T::value_type>) {
    const Result<void> whole = check_elements<typename decltype(list[0])::Reads>(list);
    if (!whole) return refusal.because(whole.error().message);
  }
  value.clear();
  value.reserve(list.size());
  for (unsigned i = 0; i < list.size(); ++i) {
    const bool taken = decode_value(value.emplace_back(), list[i], reader, refusal);
    if (!taken) return refusal.within(i);
  }
  return true;
}

/// Sets `value`, and says whether a peer may have sent it.
template <class T, class Got, class... Checks>
bool decode_value(T& value, const Got& got, WireReader& reader, Refusal& refusal,
                  const Checks&... checks) {
  static_assert(fits<T, Got>(), "the member's type does not fit the schema's");
  if constexpr (kIsList<T>) {
    return decode_list(value, got, reader, refusal, checks...);
  } else if constexpr (kIsHash<T>) {
    if (got.size() != value.size()) return refusal.because(std::to_string(got.size()) + " bytes");
    std::memcpy(value.data(), got.begin(), value.size());
    return true;
  } else if constexpr (Struct<T>) {
    return decode_struct(value, got, reader, refusal);
  } else if constexpr (std::same_as<T, std::string>) {
    value.assign(got.begin(), got.size());
  } else if constexpr (std::same_as<T, Bytes>) {
    value = reader.bytes(got);
  } else if constexpr (std::same_as<T, Duration>) {
    value = Duration(got);
  } else if constexpr (Id<T>) {
    value.value = got;
  } else {
    value = got;
  }
  return allowed(value, refusal, checks...);
}

template <class T, class Reader>
struct FieldDecoder {
  T& value;
  Reader wire;
  WireReader& reader;
  Refusal& refusal;
  template <class... Fields>
  bool operator()(const Fields&... fields) const {
    return (decode(fields) && ...);
  }
  template <class Field>
  bool decode(const Field& field) const {
    const bool taken = field.with_checks([&](const auto&... checks) {
      return decode_value(field.member(value), field.accessor(Do<Access::get>{}, wire), reader,
                          refusal, checks...);
    });
    return taken || refusal.within(field.name);
  }
};

template <class T, class Reader>
bool decode_struct(T& value, Reader wire, WireReader& reader, Refusal& refusal) {
  if constexpr (requires { T::decode(wire, reader); }) {
    Result<T> decoded = T::decode(wire, reader);
    if (!decoded) return refusal.because(std::move(decoded).error().message);
    value = std::move(decoded).value();
    return true;
  } else if constexpr (Listed<T>) {
    static_assert(
        !requires { value.check(); }, "check() is of messages");
    const FieldDecoder<T, Reader> decoder{value, wire, reader, refusal};
    return visit_fields(decoder, std::type_identity<T>{});
  }
  return false;  // who encodes it says what is wrong with its type
}

template <class M>
Result<M> decode_message(std::string_view name, typename M::Wire::Reader wire, WireReader& reader) {
  M message;
  Refusal refusal;
  const FieldDecoder<M, typename M::Wire::Reader> decoder{message, wire, reader, refusal};
  if (!visit_fields(decoder, std::type_identity<M>{})) return refusal.error(name);
  if constexpr (requires { message.check(); }) {
    if (Result<void> checked = message.check(); !checked)
      return std::move(checked).error().in(name);
  }
  return message;
}

}  // namespace sterna::detail

// NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot stand in parentheses
/// A field of a list: the struct's member, the schema's name in upper case, what is checked.
#define FIELD(path, Name, ...)                                                        \
  ::sterna::detail::field(                                                            \
      #Name, #path, [](auto& sterna_value) -> auto& { return sterna_value.path; },    \
      [](auto sterna_do, auto sterna_wire, auto... sterna_arg) -> decltype(auto) {    \
        using enum ::sterna::detail::Access;                                          \
        static_assert(                                                                \
            requires { sterna_wire.get##Name(); }, "the schema has no field " #Name); \
        if constexpr (sterna_do == get) {                                             \
          return sterna_wire.get##Name();                                             \
        } else if constexpr (sterna_do == set) {                                      \
          return sterna_wire.set##Name(sterna_arg...);                                \
        } else if constexpr (sterna_do == init) {                                     \
          return sterna_wire.init##Name(sterna_arg...);                               \
        } else {                                                                      \
          return sterna_wire.adopt##Name(std::move(sterna_arg)...);                   \
        }                                                                             \
      } __VA_OPT__(, ) __VA_ARGS__)

#define STERNA_VISIT_FIELDS(friends, T, ...)                                 \
  template <class Visitor>                                                   \
  friends bool visit_fields(const Visitor& visitor, std::type_identity<T>) { \
    using namespace ::sterna::field_checks;                                  \
    return visitor(__VA_ARGS__);                                             \
  }
/// The list of a struct that travels only within messages, in its namespace.
#define STERNA_FIELDS(T, ...) STERNA_VISIT_FIELDS(, T, __VA_ARGS__)

#define STERNA_MESSAGE_FUNCTIONS(M, of, kept)                                           \
  void of encode(Wire::Builder wire, ::sterna::WireWriter& writer) const {              \
    ::sterna::detail::encode_message<M>(#M, *this, wire, writer);                       \
  }                                                                                     \
  kept ::sterna::Result<M> of decode(Wire::Reader wire, ::sterna::WireReader& reader) { \
    return ::sterna::detail::decode_message<M>(#M, wire, reader);                       \
  }                                                                                     \
  kept const ::sterna::MessageFields& of fields() {                                     \
    static const ::sterna::MessageFields kFields = ::sterna::detail::describe<M>(#M);   \
    return kFields;                                                                     \
  }

/// The list of a message whose class declares it: once, in a .cc, in its namespace.
#define STERNA_MESSAGE(M, ...)  \
  STERNA_FIELDS(M, __VA_ARGS__) \
  STERNA_MESSAGE_FUNCTIONS(M, M::, )

/// In a message's class: declaration and list at once.
#define STERNA_INLINE_MESSAGE(M, ...)         \
  STERNA_VISIT_FIELDS(friend, M, __VA_ARGS__) \
  STERNA_MESSAGE_FUNCTIONS(M, , static)
// NOLINTEND(bugprone-macro-parentheses)
