// FrameBatch: small messages to one peer that travel together, as one ZeroMQ message of one frame.
//
// A message of its own costs a ROUTER two frames, a flush and often a wake-up; most asks and
// answers are far smaller than that. What a loop sends in one turn is gathered per connection and
// leaves at the end of the turn. Only messages of one small frame are gathered; everything else
// sends what is gathered first, so that order is kept.
//
//   u32 3 (the tag), u32 messages; then for each: u32 bytes, u32 0, its frame, zeros to a whole
//   word
//
// All little-endian. A Cap'n Proto segment begins with its root pointer, a struct or a far pointer,
// whose lowest two bits are never 3: so an envelope is never taken for a batch. Any other small
// frame that could be is sent as a batch of one.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/transport/transport.h"

namespace sterna {

/// A larger message is worth frames of its own.
constexpr std::size_t kLargestBatchedFrame = 1024;
/// A frame batch of so many bytes leaves at once.
constexpr std::size_t kFullFrameBatch = 16 << 10;

/// Gathers messages for one connection, in the order of add().
class FrameBatchWriter {
 public:
  /// Whether a message travels in a frame batch at all.
  static bool takes(std::span<const OutFrame> frames);
  void add(ByteView frame);
  bool empty() const { return count_ == 0; }
  bool full() const { return bytes_.size() >= kFullFrameBatch; }
  /// What to send: the only message as it is, several as a batch. Valid until clear().
  ByteView frame();
  void clear();

 private:
  std::vector<std::byte> bytes_;
  std::uint32_t count_ = 0;
};

/// Takes a received frame batch apart.
class FrameBatchReader {
 public:
  /// Whether a received message's only frame is a batch, well-formed or not.
  static bool is_batch(ByteView frame);

  /// `batch`: of which is_batch is true. One larger than any that we write is malformed.
  explicit FrameBatchReader(ByteView batch);
  /// The next message's frame; empty at the end, and where the batch is malformed.
  ByteView next();
  bool malformed() const { return malformed_; }

 private:
  ByteView rest_;
  std::uint32_t left_ = 0;
  bool malformed_ = false;
};

/// One message out of a frame batch, as its receiver sees it.
class FrameBatchMessage final : public InMessage {
 public:
  explicit FrameBatchMessage(ByteView frame) : frame_(frame) {}
  std::size_t frames() const override { return 1; }
  ByteView frame(std::size_t) const override { return frame_; }
  Bytes keep(std::size_t) override {
    if (kept_.empty()) kept_ = copy_bytes(frame_);
    return kept_;
  }

 private:
  ByteView frame_;
  Bytes kept_;
};

}  // namespace sterna
