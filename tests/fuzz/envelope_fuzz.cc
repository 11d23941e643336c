// libFuzzer: whatever frames a peer sends, decoding ends in a message or an error, never in a
// crash, a hang or bloat. Covers the Envelope and every message type, over several segments,
// aligned or not.
//
// The input is cut as: [type selector][frame count][per frame: length, misalignment][frame bytes].

#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/fuzz/message_list.h"

namespace sterna {
namespace {

/// Frames at a chosen misalignment, each in an allocation of its exact size, so that ASan sees
/// every byte read beyond it.
class FuzzedMessage final : public InMessage {
 public:
  void add(const std::vector<std::uint8_t>& bytes, std::size_t misalignment) {
    Frame frame;
    frame.size = bytes.size();
    frame.storage = std::shared_ptr<std::byte[]>(new std::byte[bytes.size() + misalignment]);
    frame.begin = frame.storage.get() + misalignment;
    if (!bytes.empty()) std::memcpy(frame.begin, bytes.data(), bytes.size());
    frames_.push_back(std::move(frame));
  }
  std::size_t frames() const override { return frames_.size(); }
  ByteView frame(std::size_t index) const override {
    return {frames_[index].begin, frames_[index].size};
  }
  Bytes keep(std::size_t index) override { return {frames_[index].storage, frame(index)}; }

 private:
  struct Frame {
    std::shared_ptr<std::byte[]> storage;
    std::byte* begin = nullptr;
    std::size_t size = 0;
  };
  std::vector<Frame> frames_;
};

struct Selector {
  const std::vector<const MessageType*>& types;
  std::size_t choice;
};

/// The type that the envelope names if it is known; else the one chosen, so that every decoder is
/// reached long before the fuzzer has found its 64-bit id.
Expected expect(void* context, const Header& header) {
  const auto& selector = *static_cast<Selector*>(context);
  for (const MessageType* type : selector.types) {
    if (type->type_id == header.type_id) return {type, false};
  }
  return {selector.types[selector.choice % selector.types.size()], false};
}

}  // namespace
}  // namespace sterna

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<const sterna::MessageType*> types = sterna::every_message_type();
  FuzzedDataProvider input(data, size);
  sterna::Selector selector{types, input.ConsumeIntegral<std::uint8_t>()};
  sterna::FuzzedMessage message;
  const std::size_t frames = input.ConsumeIntegralInRange<std::size_t>(0, 4);
  for (std::size_t i = 0; i < frames; ++i) {
    const std::size_t misalignment = input.ConsumeIntegralInRange<std::size_t>(0, 7);
    const std::size_t words = input.ConsumeIntegralInRange<std::size_t>(0, 1024);
    const bool last = i + 1 == frames;
    message.add(last ? input.ConsumeRemainingBytes<std::uint8_t>()
                     : input.ConsumeBytes<std::uint8_t>(words * 8),
                misalignment);
  }
  const auto decoded = sterna::decode_envelope(message, &sterna::expect, &selector);
  if (!decoded && decoded.error().code == sterna::Errc::internal) std::abort();
  return 0;
}
