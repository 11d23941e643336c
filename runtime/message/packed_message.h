// A message as one string of bytes, for what does not travel on a link: a Bootstrap on standard
// input, an actor's arguments. It is an envelope like any other (the same checks, the same single
// place where Cap'n Proto's exceptions end), its frames written one after the other:
//
//   u32 frames, u32 size of each (little-endian), the frames
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/message/message.h"

namespace sterna {

namespace detail {
Bytes pack_frames(std::span<const OutFrame> frames);
/// A MessageMail of that type.
Result<std::unique_ptr<Mail>> unpack_mail(ByteView packed, const MessageType& type);
}  // namespace detail

/// `packed` behind its size as a u64: how a stream of bytes tells where one ends.
Bytes with_size(const Bytes& packed);

/// Also of what unpack() will refuse, as it says why. Empty where it is too large for Cap'n Proto.
template <Message M>
Bytes pack(const M& message) {
  EnvelopeEncoder encoder;
  Header header;
  header.type_id = type_id_of<M>();
  const auto frames = encoder.encode_unchecked(header, [&](auto& envelope, WireWriter& writer) {
    message.encode(envelope.initBody().template initAs<typename M::Wire>(), writer);
  });
  return frames ? detail::pack_frames(*frames) : Bytes();
}

/// Fails (malformed) unless `packed` is exactly one M.
template <Message M>
Result<M> unpack(ByteView packed) {
  Result<std::unique_ptr<Mail>> mail = detail::unpack_mail(packed, kMessageType<M>);
  if (!mail) return std::move(mail).error();
  return std::move(static_cast<MessageMail<M>&>(**mail).message);
}

}  // namespace sterna
