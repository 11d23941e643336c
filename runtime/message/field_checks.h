// What a list of fields (fields.h) may say of one, and how types of members are told apart.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/message/actor_ref.h"

namespace sterna {

/// Of a list that says nothing else.
inline constexpr std::uint32_t kMostElements = 4096;
/// Of a time that says nothing else: the longest that a file can say.
inline constexpr Duration kMostTime = std::chrono::hours(24 * 366);

/// Bounds are of numbers and times, and of the size of texts, bytes and lists.
namespace field_checks {
template <class T>
struct AtMost {
  T most;
};
template <class T>
struct AtLeast {
  T least;
};
struct AnyFloat {};
struct AnyTime {};
struct Secret {};
template <class T>
constexpr AtMost<T> at_most(T most) {
  return {most};
}
template <class T>
constexpr AtLeast<T> at_least(T least) {
  return {least};
}
// NOLINTBEGIN(readability-identifier-naming): words of a list, beside functions
inline constexpr AtLeast<std::uint32_t> not_empty{1};
inline constexpr AnyFloat any_float{};  ///< also what is not finite: a loss that diverged
inline constexpr AnyTime any_time{};    ///< also before 0, or after a year: a clock's difference
inline constexpr Secret secret{};       ///< never shown
// NOLINTEND(readability-identifier-naming)
}  // namespace field_checks

namespace detail {

template <class Check, class... Checks>
inline constexpr bool kHas = (std::same_as<Check, Checks> || ...);
template <class T>
concept Most = requires(T check) {
  check.most;
};
template <class T>
concept Least = requires(T check) {
  check.least;
};

template <class T>
inline constexpr bool kIsList = false;
template <class E>
inline constexpr bool kIsList<std::vector<E>> = true;
template <class T>
inline constexpr bool kIsHash = false;
template <std::size_t kSize>
inline constexpr bool kIsHash<std::array<std::byte, kSize>> = true;
template <class T>
inline constexpr bool kIsActorRef = false;
template <class I>
inline constexpr bool kIsActorRef<ActorRef<I>> = true;

/// A number of a type of its own: ProcessId, LocalId.
template <class T>
inline constexpr bool kIsId = false;
template <class Tag>
inline constexpr bool kIsId<StrongId<Tag>> = true;
template <class T>
concept Id = kIsId<T>;
template <class T>
concept Sized = std::same_as<T, std::string> || std::same_as<T, Bytes> || kIsList<T>;
template <class T>
concept Measured = Sized<T> || std::same_as<T, Duration> ||
    (std::is_arithmetic_v<T> && !std::same_as<T, bool>);
/// What is a struct in the schema too.
template <class T>
concept Struct =
    std::is_class_v<T> && !Sized<T> && !Id<T> && !kIsHash<T> && !std::same_as<T, Duration>;

struct AnyVisitor {
  template <class... Fields>
  bool operator()(const Fields&...) const;
};
/// A struct whose fields are listed (fields.h).
template <class T>
concept Listed = requires {
  visit_fields(std::declval<const AnyVisitor&>(), std::type_identity<T>{});
};

}  // namespace detail
}  // namespace sterna
