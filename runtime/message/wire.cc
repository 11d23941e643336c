#include "runtime/message/wire.h"

#include <capnp/serialize.h>
#include <fmt/format.h>
#include <kj/array.h>
#include <kj/exception.h>
#include <kj/string.h>

#include <algorithm>
#include <cstring>

#include "runtime/message/known_enum.h"
#include "runtime/message/message.h"
#include "runtime/transport/message_limits.h"

namespace sterna {

namespace {

// Below this a copy beats the bookkeeping of another frame (measured: no gain below 1 KB, clear
// gain at 64 KB).
constexpr std::size_t kReferenceAbove = 4096;
// The scratch segment: a control message fits, so encoding one allocates nothing.
constexpr std::size_t kScratchWords = 512;
// What a message costs its receiver beyond its frames: the queue entry, the mail.
constexpr std::size_t kChargePerMessage = 64;
constexpr int kNestingLimit = 16;
// Of an error that goes to a peer or comes from one: it goes into logs, and into what is told of
// who dies of it. So a failure always fits into a frame.
constexpr std::size_t kMostWords = 4096;
// Of a message's frames those that are bytes where they lie; the others are segments, which double.
constexpr std::size_t kMostReferenced = kMostFrames / 2;
// What a pointer of Cap'n Proto can say.
constexpr std::size_t kMostData = (std::size_t{1} << 29) - 1;

}  // namespace

capnp::Orphan<capnp::Data> WireWriter::data(const Bytes& bytes) {
  const capnp::Data::Reader view(reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size());
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0;
  if (bytes.size() > kMostData) {
    const std::string why = fmt::format("{} bytes, at most {}", bytes.size(), kMostData);
    throw kj::Exception(kj::Exception::Type::FAILED, __FILE__, __LINE__, kj::heapString(why));
  }
  const bool stays = aligned && bytes.owner() != nullptr && bytes.whole_words() &&
                     referenced_.size() < kMostReferenced;
  if (bytes.size() < kReferenceAbove || !stays) return orphanage_.newOrphanCopy(view);
  referenced_.push_back(bytes);
  return orphanage_.referenceExternalData(view);
}

Bytes WireReader::bytes(capnp::Data::Reader data) {
  const auto* begin = reinterpret_cast<const std::byte*>(data.begin());
  for (std::size_t i = 0; data.size() >= kReferenceAbove && i < message_.frames(); ++i) {
    const ByteView frame = message_.frame(i);
    if (begin >= frame.data() && begin + data.size() <= frame.data() + frame.size()) {
      // Keeping moves the frame to a shared owner; its bytes stay where they are, because frames of
      // this size are never stored inside the message object.
      const std::size_t offset = static_cast<std::size_t>(begin - frame.data());
      return message_.keep(i).part(offset, data.size());
    }
  }
  return copy_bytes({begin, data.size()});
}

EnvelopeEncoder::EnvelopeEncoder() : scratch_(kScratchWords) {
  std::memset(static_cast<void*>(scratch_.data()), 0, kScratchWords * sizeof(capnp::word));
}

void EnvelopeEncoder::begin() {
  // Destroying the previous builder zeroes the part of the scratch that it used.
  builder_.reset();
  builder_.emplace(kj::arrayPtr(scratch_.data(), scratch_.size()));
  frames_.clear();
}

schema::Envelope::Builder EnvelopeEncoder::start(const Header& header) {
  auto envelope = builder_->initRoot<schema::Envelope>();
  envelope.setTarget(header.target.value);
  envelope.setSource(header.source.value);
  envelope.setCorrelation(header.correlation);
  envelope.setKind(header.kind);
  envelope.setTypeId(header.type_id);
  envelope.setEpoch(header.epoch);
  envelope.setDeadline(header.deadline_ns);
  envelope.setSequence(header.sequence);
  envelope.setControlReceived(header.received[0]);
  envelope.setDataReceived(header.received[1]);
  return envelope;
}

std::span<const OutFrame> EnvelopeEncoder::finish(const WireWriter& writer) {
  for (const auto segment : builder_->getSegmentsForOutput()) {
    const ByteView view(reinterpret_cast<const std::byte*>(segment.begin()),
                        segment.size() * sizeof(capnp::word));
    OutFrame frame{view, nullptr};
    for (const Bytes& bytes : writer.referenced()) {
      if (bytes.data() == view.data()) frame.owner = bytes.owner();
    }
    frames_.push_back(std::move(frame));
  }
  return frames_;
}

Error EnvelopeEncoder::unwritable(const kj::Exception& exception) {
  return {Errc::invalid_argument,
          fmt::format("it cannot be written: {}", exception.getDescription().cStr())};
}

std::size_t charge(std::span<const OutFrame> frames) {
  std::size_t total = kChargePerMessage;
  for (const OutFrame& frame : frames) total += frame.view.size();
  return total;
}

std::size_t charge(const InMessage& message) {
  std::size_t total = kChargePerMessage;
  for (std::size_t i = 0; i < message.frames(); ++i) total += message.frame(i).size();
  return total;
}

void FailureMail::encode_body(schema::Envelope::Builder& envelope, WireWriter&) const {
  auto failure = envelope.initBody().initAs<schema::Failure>();
  failure.setCode(static_cast<std::uint16_t>(error.code));
  const std::size_t words = std::min(error.message.size(), kMostWords);
  std::memcpy(failure.initMessage(static_cast<unsigned>(words)).begin(), error.message.data(),
              words);
}

namespace {

/// The frames as aligned Cap'n Proto segments: small unaligned ones are copied.
class Segments {
 public:
  Result<void> take(InMessage& message) {
    const std::size_t count = message.frames();
    if (count == 0 || count > kMostFrames) {
      return Error{Errc::malformed, "no frames, or more than " + std::to_string(kMostFrames)};
    }
    std::size_t copied = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const ByteView frame = message.frame(i);
      if (frame.empty() || frame.size() % sizeof(capnp::word) != 0) {
        return Error{Errc::malformed,
                     "a frame of " + std::to_string(frame.size()) + " bytes, not whole words"};
      }
      words_ += frame.size() / sizeof(capnp::word);
      if (!aligned(frame)) copied += frame.size() / sizeof(capnp::word);
    }
    if (count > few_.size()) many_ = kj::heapArray<kj::ArrayPtr<const capnp::word>>(count);
    segments_ = count > few_.size() ? many_.asPtr() : kj::arrayPtr(few_.data(), count);
    const bool fits = copied <= small_.size();
    if (!fits) large_ = kj::heapArray<capnp::word>(copied);
    capnp::word* scratch = fits ? small_.data() : large_.begin();
    for (std::size_t i = 0; i < count; ++i) {
      const ByteView frame = message.frame(i);
      const std::size_t words = frame.size() / sizeof(capnp::word);
      const auto* begin = reinterpret_cast<const capnp::word*>(frame.data());
      if (!aligned(frame)) {
        std::memcpy(static_cast<void*>(scratch), frame.data(), frame.size());
        begin = std::exchange(scratch, scratch + words);
      }
      segments_[i] = kj::arrayPtr(begin, words);
    }
    return {};
  }
  kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> get() const { return segments_; }
  std::size_t words() const { return words_; }

 private:
  static bool aligned(ByteView frame) {
    return reinterpret_cast<std::uintptr_t>(frame.data()) % sizeof(capnp::word) == 0;
  }
  kj::ArrayPtr<kj::ArrayPtr<const capnp::word>> segments_;
  std::array<kj::ArrayPtr<const capnp::word>, 4> few_;  // most messages have one or two
  kj::Array<kj::ArrayPtr<const capnp::word>> many_;
  std::size_t words_ = 0;
  std::array<capnp::word, kScratchWords> small_;
  kj::Array<capnp::word> large_;
};

Error not_accepted() {
  return {Errc::malformed, "a message of a type that its target does not accept"};
}

Result<Decoded> decode_checked(schema::Envelope::Reader envelope, InMessage& message,
                               TypeResolver resolve, void* context) {
  Decoded decoded;
  Header& header = decoded.header;
  header.target = {envelope.getTarget()};
  header.source = {envelope.getSource()};
  header.correlation = envelope.getCorrelation();
  header.kind = envelope.getKind();
  header.type_id = envelope.getTypeId();
  header.epoch = envelope.getEpoch();
  header.deadline_ns = envelope.getDeadline();
  header.sequence = envelope.getSequence();
  header.received = {envelope.getControlReceived(), envelope.getDataReceived()};
  if (!known_enum(header.kind)) {
    return Error{Errc::malformed,
                 "an unknown kind of message, " + std::to_string(static_cast<int>(header.kind))};
  }
  if (header.kind == Kind::CANCEL) return decoded;
  if (header.kind == Kind::FAILURE) {
    const auto failure = envelope.getBody().getAs<schema::Failure>();
    const std::uint16_t code = failure.getCode();
    if (code > static_cast<std::uint16_t>(Errc::internal)) {
      return Error{Errc::malformed, "an unknown error code"};
    }
    const capnp::Text::Reader message = failure.getMessage();
    decoded.mail = std::make_unique<FailureMail>(
        Error{static_cast<Errc>(code),
              std::string(message.cStr(), std::min(message.size(), kMostWords))});
    return decoded;
  }
  const Expected expected = resolve(context, header);
  if (expected.refuse) return not_accepted();
  if (header.kind == Kind::REPLY && header.type_id == 0) {
    decoded.mail = std::make_unique<EmptyMail>();
    return decoded;
  }
  if (expected.type == nullptr) return decoded;
  if (expected.type->type_id != header.type_id) {
    return Error{Errc::malformed, "a reply of another type than the ask expects"};
  }
  WireReader reader(message);
  STERNA_ASSIGN(decoded.mail, expected.type->decode(envelope.getBody(), reader));
  return decoded;
}

}  // namespace

Result<Decoded> decode_envelope(InMessage& message, TypeResolver resolve, void* context) {
  Segments segments;
  STERNA_TRY(segments.take(message));
  capnp::ReaderOptions options;
  options.traversalLimitInWords = 4 * segments.words() + 16;
  options.nestingLimit = kNestingLimit;
  try {
    capnp::SegmentArrayMessageReader reader(segments.get(), options);
    return decode_checked(reader.getRoot<schema::Envelope>(), message, resolve, context);
  } catch (const kj::Exception& exception) {
    return Error{Errc::malformed, exception.getDescription().cStr()};
  }
}

Result<Decoded> decode_only(InMessage& message, const MessageType& type) {
  const auto told = [](void* wanted, const Header& header) {
    const auto* only = static_cast<const MessageType*>(wanted);
    const bool fits = header.kind == Kind::TELL && header.type_id == only->type_id;
    return Expected{fits ? only : nullptr, !fits};
  };
  MessageType wanted = type;
  STERNA_ASSIGN(Decoded decoded, decode_envelope(message, told, &wanted));
  if (decoded.header.kind != Kind::TELL) return not_accepted();
  return decoded;
}

}  // namespace sterna
