// Registry: the actor types that a program can start by name in a process of their own. Types are
// compiled in; what travels is the name and the arguments, never code.
#pragma once

#include <capnp/schema.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "runtime/actor/process.h"
#include "runtime/message/packed_message.h"

namespace sterna {

class Registry {
 public:
  struct Made {
    std::unique_ptr<ActorBase> actor;
    const detail::ActorClass* type = nullptr;
  };

  /// Actors of class A are constructed from Args, a message struct.
  template <class A, Message Args>
  void add(const std::string& type) {
    begin(type);
    mix_listed<Args>();
    mix_interface(std::type_identity<typename A::InterfaceType>{});
    types_[type] =
        Type{capnp::Schema::from<typename Args::Wire>(),
             [](ByteView packed) -> Result<void> {
               STERNA_TRY(unpack<Args>(packed));
               return {};
             },
             [](ByteView packed) -> Result<Made> {
               STERNA_ASSIGN(Args args, unpack<Args>(packed));
               return Made{std::make_unique<A>(std::move(args)), &Process::class_of<A>()};
             }};
  }

  /// Fails if the type is unknown, the arguments are not its, or its constructor throws.
  Result<Made> make(const std::string& type, ByteView packed_args) const;
  /// The arguments of an actor of that type, packed, from an object of keys and values
  /// (json_args.h). Fails (invalid_argument) as make() would, or if a key or value is not its.
  Result<Bytes> args_from_json(const std::string& type, std::string_view json) const;
  bool knows(const std::string& type) const { return types_.contains(type); }

  /// Stands for the wire format of all types added: two programs with different ones refuse each
  /// other's links instead of misreading each other.
  std::uint64_t schema_hash() const { return schema_hash_; }
  /// The ids of the structs and enums that it stands for.
  const std::set<std::uint64_t>& schemas() const { return schemas_; }

  /// Empty, or what a message of the types added lacks in its list of fields
  /// (runtime/message/fields.h), or which name two types have: the program is not to run.
  const std::string& complaint() const { return complaint_; }

  struct Type {
    capnp::StructSchema args;
    std::function<Result<void>(ByteView)> check;  ///< whether make() would take the arguments
    std::function<Result<Made>(ByteView)> make;
  };
  /// All types, by name.
  const std::map<std::string, Type>& types() const { return types_; }

 private:
  Result<const Type*> find(const std::string& type) const;
  void begin(const std::string& type);
  void mix(std::string_view bytes);
  /// The struct, and the structs and enums that it holds.
  void mix_schema(const capnp::_::RawSchema& schema);
  template <class I>
  void mix_interface(std::type_identity<I>) {
    mix_messages(static_cast<I*>(nullptr));
  }
  template <class... Messages>
  void mix_messages(Interface<Messages...>*) {
    (mix_message<Messages>(), ...);
  }
  template <class M>
  void mix_message() {
    mix_listed<M>();
    if constexpr (Askable<M>) {
      if constexpr (!std::is_void_v<ReplyTo<M>>) mix_listed<ReplyTo<M>>();
    }
  }
  template <class M>
  void mix_listed() {
    mix_schema(capnp::_::rawSchema<typename M::Wire>());
    if constexpr (requires { M::fields(); }) look_at(M::fields());
  }
  void look_at(const MessageFields& fields);

  std::map<std::string, Type> types_;
  std::set<std::uint64_t> schemas_;
  std::string complaint_;
  std::uint64_t schema_hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace sterna
