// Interface: the list of messages an actor accepts. ActorRef: the address of an actor that accepts
// them.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/message/message.h"

namespace sterna {

/// An interface is a type derived from this with its messages: struct Counter : Interface<Add,
/// Read> {};
template <Message... Messages>
struct Interface {
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
template <class I>
struct TypesOf;
template <class... Messages>
struct TypesOf<Interface<Messages...>> {
  template <class M>
  static void add(std::vector<const MessageType*>& types) {
    types.push_back(&kMessageType<M>);
    if constexpr (Askable<M>) {
      if constexpr (!std::is_void_v<ReplyTo<M>>) types.push_back(&kMessageType<ReplyTo<M>>);
    }
  }
  static std::vector<const MessageType*> get() {
    std::vector<const MessageType*> types;
    (add<Messages>(types), ...);
    return types;
  }
};
template <class... Messages>
Interface<Messages...> interface_base(const Interface<Messages...>&);
}  // namespace detail

/// Every message of an interface, and every reply, for tools that must know them all (the fuzzer).
template <class I>
std::vector<const MessageType*> message_types() {
  return detail::TypesOf<decltype(detail::interface_base(std::declval<I>()))>::get();
}

/// The address of an actor with interface I. A value: copy it, send it in messages. It does not
/// keep the actor alive; asking a dead one ends as actor_down.
template <class I>
struct ActorRef {
  ActorId id;
  constexpr explicit operator bool() const { return static_cast<bool>(id); }
  friend constexpr bool operator==(const ActorRef&, const ActorRef&) = default;

  void encode(schema::ActorAddress::Builder wire) const {
    wire.setProcess(id.process.value);
    wire.setLocal(id.local.value);
    wire.setInterface(I::type_id());
  }
  /// Fails if the address is of an actor with another interface.
  static Result<ActorRef> decode(schema::ActorAddress::Reader wire) {
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
};

}  // namespace sterna
