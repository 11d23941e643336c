#include "runtime/message/packed_message.h"

#include <cstring>

#include "runtime/transport/message_limits.h"

namespace sterna {

Bytes with_size(const Bytes& packed) {
  const std::uint64_t size = packed.size();
  const auto sized = make_buffer(sizeof(size) + packed.size());
  std::memcpy(sized->data(), &size, sizeof(size));
  std::memcpy(sized->data() + sizeof(size), packed.data(), packed.size());
  return share(sized);
}

namespace detail {

namespace {

/// The frames of a packed message, each copied to aligned memory of its own.
class PackedFrames final : public InMessage {
 public:
  Result<void> parse(ByteView packed) {
    const Error cut{Errc::malformed, "a packed message was cut short"};
    std::uint32_t count = 0;
    if (!take(packed, &count, sizeof(count))) return cut;
    if (count == 0 || count > kMostFrames) return Error{Errc::malformed, "no packed message"};
    std::vector<std::uint32_t> sizes(count);
    if (!take(packed, sizes.data(), count * sizeof(std::uint32_t))) return cut;
    for (const std::uint32_t size : sizes) {
      if (packed.size() < size) return cut;
      frames_.push_back(copy_bytes(packed.first(size)));
      packed = packed.subspan(size);
    }
    if (!packed.empty()) return Error{Errc::malformed, "bytes after a packed message"};
    return {};
  }
  std::size_t frames() const override { return frames_.size(); }
  ByteView frame(std::size_t index) const override { return frames_[index].view(); }
  Bytes keep(std::size_t index) override { return frames_[index]; }

 private:
  static bool take(ByteView& from, void* to, std::size_t size) {
    if (from.size() < size) return false;
    std::memcpy(to, from.data(), size);
    from = from.subspan(size);
    return true;
  }
  std::vector<Bytes> frames_;
};

}  // namespace

Bytes pack_frames(std::span<const OutFrame> frames) {
  std::size_t size = sizeof(std::uint32_t) * (1 + frames.size());
  for (const OutFrame& frame : frames) size += frame.view.size();
  const auto packed = make_buffer(size);
  std::byte* at = packed->data();
  const auto put = [&at](const void* from, std::size_t bytes) {
    std::memcpy(at, from, bytes);
    at += bytes;
  };
  const auto count = static_cast<std::uint32_t>(frames.size());
  put(&count, sizeof(count));
  for (const OutFrame& frame : frames) {
    const auto bytes = static_cast<std::uint32_t>(frame.view.size());
    put(&bytes, sizeof(bytes));
  }
  for (const OutFrame& frame : frames) put(frame.view.data(), frame.view.size());
  return share(packed);
}

Result<std::unique_ptr<Mail>> unpack_mail(ByteView packed, const MessageType& type) {
  PackedFrames frames;
  STERNA_TRY(frames.parse(packed));
  STERNA_ASSIGN(Decoded decoded, decode_only(frames, type));
  return std::move(decoded.mail);
}

}  // namespace detail
}  // namespace sterna
