// Strong integer ids: a ProcessId is not a LocalId, and neither is a number.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace sterna {

template <class Tag>
struct StrongId {
  std::uint64_t value = 0;  ///< 0 means "none"
  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

/// A process of a run; issued by the coordinator, never reused within the run.
using ProcessId = StrongId<struct ProcessTag>;
/// An actor within its process; never reused within the process's life.
using LocalId = StrongId<struct LocalTag>;

/// An actor of a run.
struct ActorId {
  ProcessId process;
  LocalId local;
  constexpr explicit operator bool() const { return static_cast<bool>(local); }
  friend constexpr auto operator<=>(const ActorId&, const ActorId&) = default;
};

}  // namespace sterna

template <class Tag>
struct std::hash<sterna::StrongId<Tag>> {
  std::size_t operator()(const sterna::StrongId<Tag>& id) const noexcept {
    return std::hash<std::uint64_t>{}(id.value * 0x9E3779B97F4A7C15ULL);
  }
};

template <>
struct std::hash<sterna::ActorId> {
  std::size_t operator()(const sterna::ActorId& id) const noexcept {
    return std::hash<std::uint64_t>{}((id.process.value * 0x9E3779B97F4A7C15ULL) ^ id.local.value);
  }
};
