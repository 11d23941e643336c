// A message through the frames that carry it, as from one process to another.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "actors/job/messages.h"

namespace sterna::actors {

class Frames final : public InMessage {
 public:
  explicit Frames(std::span<const OutFrame> frames) {
    for (const OutFrame& frame : frames) frames_.push_back(copy_bytes(frame.view));
  }
  std::size_t frames() const override { return frames_.size(); }
  ByteView frame(std::size_t index) const override { return frames_[index].view(); }
  Bytes keep(std::size_t index) override { return frames_[index]; }

 private:
  std::vector<Bytes> frames_;
};

/// Through the wire and back.
template <class M>
Result<M> round_trip(const M& message) {
  EnvelopeEncoder encoder;
  Header header;
  header.kind = Kind::ASK;
  header.type_id = type_id_of<M>();
  Frames frames(encoder.encode(
      header, [&](::sterna::schema::Envelope::Builder& envelope, WireWriter& writer) {
        message.encode(envelope.initBody().initAs<typename M::Wire>(), writer);
      }));
  Result<Decoded> decoded = decode_envelope(
      frames,
      [](void*, const Header&) {
        return Expected{&kMessageType<M>, false};
      },
      nullptr);
  if (!decoded) return decoded.error();
  return std::move(static_cast<MessageMail<M>&>(*decoded->mail).message);
}

}  // namespace sterna::actors
