// What makes a plain struct a message, and Mail: a message on its way within a process.
//
//   struct Add {
//     using Wire = schema::Add;  // the Cap'n Proto struct; its 64-bit id is the message's type id
//     using Reply = Total;       // another message, or void; leave it out for tell-only messages
//     std::int64_t amount = 0;
//     STERNA_DECLARE_MESSAGE(Add);
//   };
//
// What it has in common with its schema is listed in a .cc (fields.h). decode() checks everything a
// peer could get wrong; getters may throw kj::Exception, which the caller turns into an error.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/message/wire.h"

namespace sterna {

template <class M>
concept Message = std::movable<M> &&
    requires(const M& message, typename M::Wire::Builder builder, typename M::Wire::Reader reader,
             WireWriter& writer, WireReader& wire_reader) {
  { message.encode(builder, writer) } -> std::same_as<void>;
  { M::decode(reader, wire_reader) } -> std::same_as<Result<M>>;
};

struct MessageFields;  // field_rules.h

namespace detail {
template <class M>
struct ReplyOf {
  using Type = void;
  static constexpr bool kAskable = false;
};
template <class M>
requires requires { typename M::Reply; }
struct ReplyOf<M> {
  using Type = typename M::Reply;
  static constexpr bool kAskable = true;
};
}  // namespace detail

/// A message that may be asked: it declares what it is answered with (possibly void).
template <class M>
concept Askable = Message<M> && detail::ReplyOf<M>::kAskable;
template <class M>
using ReplyTo = typename detail::ReplyOf<M>::Type;

/// The lane a message travels on: control unless it says `static constexpr Lane kLane =
/// Lane::data`.
template <class M>
constexpr Lane lane_of() {
  if constexpr (requires { M::kLane; }) {
    return M::kLane;
  } else {
    return Lane::control;
  }
}

template <class M>
constexpr std::uint64_t type_id_of() {
  return capnp::typeId<typename M::Wire>();
}

/// Mail: one message in a process's queue. Between actors of one process the struct itself moves.
struct Mail {
  Mail(const MessageType* mail_type, Lane mail_lane) : type(mail_type), lane(mail_lane) {}
  virtual ~Mail() = default;
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  /// Writes the body for the wire.
  virtual void encode_body(schema::Envelope::Builder& envelope, WireWriter& writer) const = 0;

  const MessageType* type;  ///< null for mail without a body of its own
  Mail* next = nullptr;
  LocalId target;
  ActorId source;
  std::uint64_t correlation = 0;
  std::int64_t deadline_ns = 0;  ///< time left when sent; 0 for none
  std::uint32_t charge = 0;      ///< credit to give back to the sending process once delivered,
  std::uint32_t session = 0;     ///< if its link's session is still this one (low half)
  Kind kind = Kind::TELL;
  Lane lane;
};

template <Message M>
struct MessageMail final : Mail {
  explicit MessageMail(M m);
  void encode_body(schema::Envelope::Builder& envelope, WireWriter& writer) const override {
    message.encode(envelope.initBody().initAs<typename M::Wire>(), writer);
  }
  M message;
};

/// An answer without content: the reply to an ask whose Reply is void, or a cancellation.
struct EmptyMail final : Mail {
  EmptyMail() : Mail(nullptr, Lane::control) {}
  void encode_body(schema::Envelope::Builder&, WireWriter&) const override {}
};

/// An ask that ended without a result.
struct FailureMail final : Mail {
  explicit FailureMail(Error e) : Mail(nullptr, Lane::control), error(std::move(e)) {}
  void encode_body(schema::Envelope::Builder& envelope, WireWriter& writer) const override;
  Error error;
};

template <Message M>
inline const MessageType kMessageType{
    type_id_of<M>(),
    [](capnp::AnyPointer::Reader body, WireReader& reader) -> Result<std::unique_ptr<Mail>> {
      Result<M> message = M::decode(body.getAs<typename M::Wire>(), reader);
      if (!message) return std::move(message).error();
      return std::unique_ptr<Mail>(std::make_unique<MessageMail<M>>(std::move(message).value()));
    }};

template <Message M>
MessageMail<M>::MessageMail(M m) : Mail(&kMessageType<M>, lane_of<M>()), message(std::move(m)) {}

}  // namespace sterna

/// In a message's class: STERNA_MESSAGE (fields.h) lists its fields, in a .cc.
#define STERNA_DECLARE_MESSAGE(M)                                                     \
  void encode(Wire::Builder wire, ::sterna::WireWriter& writer) const;                \
  static ::sterna::Result<M> decode(Wire::Reader wire, ::sterna::WireReader& reader); \
  static const ::sterna::MessageFields& fields()
