#include "tests/fuzz/decode_input.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/message/packed_message.h"
#include "runtime/transport/frame_batch.h"
#include "tests/fuzz/message_list.h"

namespace sterna::fuzz {

namespace {

constexpr std::size_t kMostFrames = 8;
constexpr std::size_t kWord = 8;
constexpr std::size_t kMostGrowth = 16;
constexpr std::size_t kMostBeyond = 1 << 20;

/// What is allocated and not freed; 0 where a sanitizer allocates.
std::size_t allocated() {
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// Takes bytes from the front; zeros once there are none.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  ByteView bytes(std::size_t count) {
    count = std::min(count, size_);
    const ByteView view(reinterpret_cast<const std::byte*>(data_), count);
    data_ += count;
    size_ -= count;
    return view;
  }
  std::size_t left() const { return size_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

/// Frames at a chosen misalignment, each in an allocation of its exact size, so that ASan sees
/// every byte read beyond it.
class FuzzedMessage final : public InMessage {
 public:
  void add(ByteView bytes, std::size_t misalignment) {
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
  std::size_t choice;
  MessageType chosen;
};

/// The type that the envelope names if it is known; else the one chosen, under the id that the
/// envelope names, so that every decoder is reached long before the fuzzer has found its id.
Expected expect(void* context, const Header& header) {
  auto& selector = *static_cast<Selector*>(context);
  const std::vector<Known>& all = every_message();
  for (const Known& known : all) {
    if (known.type->type_id == header.type_id) return {known.type, false};
  }
  selector.chosen = *all[selector.choice % all.size()].type;
  selector.chosen.type_id = header.type_id;
  return {&selector.chosen, false};
}

bool decodes(InMessage& message, Selector& selector) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < message.frames(); ++i) bytes += message.frame(i).size();
  const std::size_t before = allocated();
  const auto decoded = decode_envelope(message, &expect, &selector);
  // Little beyond what its sender paid for, and a peer's bytes are never our mistake.
  if (allocated() > before + kMostGrowth * bytes + kMostBeyond) std::abort();
  if (!decoded && decoded.error().code == Errc::internal) std::abort();
  return decoded.ok();
}

/// Unpacks it as one of the type that is chosen, as arguments and Bootstraps are: it is one then.
void unpacks(const InMessage& message, const Selector& selector) {
  std::vector<OutFrame> frames;
  for (std::size_t i = 0; i < message.frames(); ++i) frames.push_back({message.frame(i), nullptr});
  const std::vector<Known>& all = every_message();
  const MessageType& type = *all[selector.choice % all.size()].type;
  const auto mail = detail::unpack_mail(detail::pack_frames(frames).view(), type);
  if (mail && (*mail)->type != &type) std::abort();
}

}  // namespace

bool decode_input(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Selector selector{input.byte(), {}};
  const std::size_t frames = input.byte() % kMostFrames + 1;
  struct Cut {
    std::size_t misalignment;
    std::size_t bytes;
  };
  std::vector<Cut> cuts(frames);
  for (Cut& cut : cuts) {
    cut.misalignment = input.byte() % kWord;
    const std::size_t low = input.byte();
    cut.bytes = (low | std::size_t{input.byte()} << 8U) * kWord;
  }
  cuts.back().bytes = size;
  FuzzedMessage message;
  for (const Cut& cut : cuts) message.add(input.bytes(cut.bytes), cut.misalignment);
  unpacks(message, selector);
  if (message.frames() > 1 || !FrameBatchReader::is_batch(message.frame(0))) {
    return decodes(message, selector);
  }
  FrameBatchReader batch(message.frame(0));
  bool all = true;
  for (ByteView frame = batch.next(); !frame.empty(); frame = batch.next()) {
    FrameBatchMessage batched(frame);
    all = decodes(batched, selector) && all;
  }
  return all && !batch.malformed();
}

std::string input_of(const std::vector<std::string>& frames, std::uint8_t misalignment) {
  std::string input;
  input += '\0';
  input += static_cast<char>(frames.size() - 1);
  for (const std::string& frame : frames) {
    const std::size_t words = frame.size() / kWord;
    input += static_cast<char>(misalignment);
    input += static_cast<char>(words & 0xffU);
    input += static_cast<char>(words >> 8U & 0xffU);
  }
  for (const std::string& frame : frames) input += frame;
  return input;
}

}  // namespace sterna::fuzz
