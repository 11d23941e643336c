// Interface: the list of messages an actor accepts. ActorRef: the address of an actor that accepts
// them.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/base/ids.h"
#include "runtime/message/message.h"

namespace sterna {

namespace detail {
template <std::uint64_t... kIds>
inline constexpr bool kDistinct = true;
template <std::uint64_t kFirst, std::uint64_t... kIds>
inline constexpr bool kDistinct<kFirst, kIds...> = ((kFirst != kIds) && ...) && kDistinct<kIds...>;
}  // namespace detail

/// An interface is a type derived from this with its messages: struct Counter : Interface<Add,
/// Read> {};
template <Message... Messages>
struct Interface {
  static_assert(detail::kDistinct<type_id_of<Messages>()...>,
                "two messages of the interface have one id: the same schema");
  template <class M>
  static constexpr bool kAccepts = (std::is_same_v<M, Messages> || ...);

  /// The interface's type id: made of its messages' ids, so both sides agree without a registry.
  static constexpr std::uint64_t type_id() {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a over the ids
    ((hash = (hash ^ type_id_of<Messages>()) * 0x100000001b3ULL), ...);
    return hash;
  }
};

namespace detail {
template <class... Messages>
Interface<Messages...> interface_base(const Interface<Messages...>&);
}  // namespace detail

/// The address of an actor with interface I. A value: copy it, send it in messages. It does not
/// keep the actor alive; asking a dead one ends as actor_down.
template <class I>
struct ActorRef {
  ActorId id;
  constexpr explicit operator bool() const { return static_cast<bool>(id); }
  friend constexpr bool operator==(const ActorRef&, const ActorRef&) = default;

  void encode(schema::ActorAddress::Builder wire, WireWriter&) const {
    wire.setProcess(id.process.value);
    wire.setLocal(id.local.value);
    wire.setInterface(I::type_id());
  }
  /// Fails if the address is of an actor with another interface.
  static Result<ActorRef> decode(schema::ActorAddress::Reader wire, WireReader&) {
    if (wire.getInterface() != I::type_id()) {
      return Error{Errc::malformed, "an actor address of another interface"};
    }
    return ActorRef{{{wire.getProcess()}, {wire.getLocal()}}};
  }
};

/// An address whose interface is only known at run time, as the directory stores it.
struct AnyRef {
  ActorId id;
  std::uint64_t interface_id = 0;

  friend bool operator==(const AnyRef&, const AnyRef&) = default;

  AnyRef() = default;
  AnyRef(ActorId actor, std::uint64_t interface_type) : id(actor), interface_id(interface_type) {}
  template <class I>
  // NOLINTNEXTLINE(google-explicit-constructor): an implicit conversion by design
  AnyRef(ActorRef<I> ref) : id(ref.id), interface_id(I::type_id()) {}

  /// The typed address; fails if the interface is another one.
  template <class I>
  Result<ActorRef<I>> as() const {
    if (interface_id != I::type_id()) {
      return Error{Errc::invalid_argument, "the actor has another interface"};
    }
    return ActorRef<I>{id};
  }

  void encode(schema::ActorAddress::Builder wire, WireWriter&) const {
    wire.setProcess(id.process.value);
    wire.setLocal(id.local.value);
    wire.setInterface(interface_id);
  }
  static Result<AnyRef> decode(schema::ActorAddress::Reader wire, WireReader&) {
    return AnyRef({{wire.getProcess()}, {wire.getLocal()}}, wire.getInterface());
  }
};

}  // namespace sterna
