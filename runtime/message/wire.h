// Wire: an Envelope as frames. Encoding references bulk bytes, decoding views them; both check.
#pragma once

#include <capnp/message.h>
#include <capnp/orphan.h>
#include <kj/exception.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/message/envelope.capnp.h"
#include "runtime/message/refusal.h"
#include "runtime/transport/transport.h"

namespace sterna {

using schema::Kind;

/// The envelope without its body.
struct Header {
  LocalId target;
  LocalId source;
  std::uint64_t correlation = 0;
  Kind kind = Kind::TELL;
  std::uint64_t type_id = 0;
  std::uint32_t epoch = 0;
  std::int64_t deadline_ns = 0;
  std::uint64_t sequence = 0;
  std::array<std::uint32_t, kLanes> received = {};  ///< what the sender waits for, modulo 2^32
};

/// Handed to a message's `encode`: attaches bulk bytes without copying them.
class WireWriter {
 public:
  explicit WireWriter(capnp::Orphanage orphanage) : orphanage_(orphanage) {}
  /// A Data field's content. Large bytes become a frame of their own, sent from where they lie
  /// where Bytes says that they can be, the first few of a message; others are copied.
  capnp::Orphan<capnp::Data> data(const Bytes& bytes);
  const std::vector<Bytes>& referenced() const { return referenced_; }
  /// Why this may not be sent: no receiver would take it (fields.h).
  detail::Refusal& refusal() { return refusal_; }
  const detail::Refusal& refusal() const { return refusal_; }

 private:
  capnp::Orphanage orphanage_;
  std::vector<Bytes> referenced_;
  detail::Refusal refusal_;
};

/// Handed to a message's `decode`: turns Data fields into owning views of the received frame.
class WireReader {
 public:
  explicit WireReader(InMessage& message) : message_(message) {}
  Bytes bytes(capnp::Data::Reader data);

 private:
  InMessage& message_;
};

/// A message as the receiver's code knows it: its id, and how to make it from the wire.
struct Mail;
struct MessageType {
  std::uint64_t type_id;
  Result<std::unique_ptr<Mail>> (*decode)(capnp::AnyPointer::Reader body, WireReader& reader);
};

/// Builds envelopes. One for a process's links: it keeps the scratch segment that small messages
/// fit in.
class EnvelopeEncoder {
 public:
  EnvelopeEncoder();
  /// `fill` writes the body. Returns the frames, valid until the next call. Fails
  /// (invalid_argument) where no receiver would take the body.
  template <class Fill>
  Result<std::span<const OutFrame>> encode(const Header& header, Fill&& fill) {
    detail::Refusal refusal;
    Result<std::span<const OutFrame>> frames = write(header, fill, refusal);
    if (frames && !refusal.what.empty()) return Error{Errc::invalid_argument, refusal.what};
    return frames;
  }
  /// The same of a body that a receiver may refuse, who says why. Fails (invalid_argument) only
  /// where Cap'n Proto cannot write it: its exceptions end here.
  template <class Fill>
  Result<std::span<const OutFrame>> encode_unchecked(const Header& header, Fill&& fill) {
    detail::Refusal ignored;
    return write(header, fill, ignored);
  }

 private:
  void begin();
  schema::Envelope::Builder start(const Header& header);
  template <class Fill>
  Result<std::span<const OutFrame>> write(const Header& header, Fill& fill,
                                          detail::Refusal& refusal) {
    begin();
    try {
      auto envelope = start(header);
      WireWriter writer(capnp::Orphanage(builder_->getOrphanage()));
      fill(envelope, writer);
      refusal = writer.refusal();
      return finish(writer);
    } catch (const kj::Exception& exception) {
      return unwritable(exception);
    }
  }
  std::span<const OutFrame> finish(const WireWriter& writer);
  static Error unwritable(const kj::Exception& exception);

  std::vector<capnp::word> scratch_;
  std::optional<capnp::MallocMessageBuilder> builder_;
  std::vector<OutFrame> frames_;
};

/// The bytes of a message as credits count them: its frames plus a fixed cost per message.
std::size_t charge(std::span<const OutFrame> frames);
std::size_t charge(const InMessage& message);

struct Decoded {
  Header header;
  std::unique_ptr<Mail> mail;  ///< null if nobody waits for the body, and for cancellations
};

/// What the body of a message must be, decided from its header alone.
struct Expected {
  const MessageType* type = nullptr;  ///< null: leave the body alone (nobody waits for it any more)
  bool refuse = false;                ///< the receiver does not accept this at all
};
using TypeResolver = Expected (*)(void* context, const Header& header);

/// Decodes a whole message before anything is touched. Whatever the bytes are, the answer is a
/// value or Errc::malformed; Cap'n Proto's exceptions end here.
Result<Decoded> decode_envelope(InMessage& message, TypeResolver resolve, void* context);

/// The same where nothing else may come than what is told and of this type: its mail is a
/// MessageMail of it. (A failure or a cancellation, which no resolver is asked about, is
/// malformed.)
Result<Decoded> decode_only(InMessage& message, const MessageType& type);

}  // namespace sterna
