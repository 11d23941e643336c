// A received message whose frames a test has made.
#pragma once

#include <string>
#include <vector>

#include "runtime/message/message.h"

namespace sterna::test {

class HeldMessage final : public InMessage {
 public:
  explicit HeldMessage(std::vector<Bytes> frames) : frames_(std::move(frames)) {}
  /// As the frames arrive at the other end: copied.
  explicit HeldMessage(std::span<const OutFrame> sent) {
    for (const OutFrame& frame : sent) frames_.push_back(copy_bytes(frame.view));
  }
  std::size_t frames() const override { return frames_.size(); }
  ByteView frame(std::size_t index) const override { return frames_[index].view(); }
  Bytes keep(std::size_t index) override { return frames_[index]; }
  const std::vector<Bytes>& all() const { return frames_; }

 private:
  std::vector<Bytes> frames_;
};

/// `message`, which may break its rules, as an envelope's frames, valid until the encoder's next
/// call.
template <Message M>
std::span<const OutFrame> encode(EnvelopeEncoder& encoder, Header header, const M& message) {
  header.type_id = type_id_of<M>();
  const auto write = [&](auto& envelope, WireWriter& writer) {
    message.encode(envelope.initBody().template initAs<typename M::Wire>(), writer);
  };
  return encoder.encode_unchecked(header, write).value();
}

}  // namespace sterna::test
