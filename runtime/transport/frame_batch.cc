#include "runtime/transport/frame_batch.h"

#include <cstring>

namespace sterna {

namespace {

constexpr std::uint32_t kTag = 3;
constexpr std::size_t kWord = 8;
// The last message to be gathered finds the batch not yet full.
constexpr std::size_t kLargestFrameBatch = kFullFrameBatch + kWord + kLargestBatchedFrame;

std::size_t padded(std::size_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

struct Pair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};
static_assert(sizeof(Pair) == 8);

Pair pair_at(ByteView bytes) {
  Pair pair;
  std::memcpy(&pair, bytes.data(), sizeof(pair));
  return pair;
}

}  // namespace

bool FrameBatchWriter::takes(std::span<const OutFrame> frames) {
  if (frames.size() != 1 || frames[0].view.empty()) return false;
  return frames[0].view.size() <= kLargestBatchedFrame;
}

void FrameBatchWriter::add(ByteView frame) {
  if (bytes_.empty()) bytes_.resize(sizeof(Pair));
  const Pair size{static_cast<std::uint32_t>(frame.size()), 0};
  const auto* begin = reinterpret_cast<const std::byte*>(&size);
  bytes_.insert(bytes_.end(), begin, begin + sizeof(size));
  bytes_.insert(bytes_.end(), frame.begin(), frame.end());
  bytes_.resize(padded(bytes_.size()));
  ++count_;
}

ByteView FrameBatchWriter::frame() {
  const ByteView all(bytes_);
  const ByteView first = all.subspan(2 * sizeof(Pair), pair_at(all.subspan(sizeof(Pair))).first);
  if (count_ == 1 && !FrameBatchReader::is_batch(first)) return first;
  const Pair head{kTag, count_};
  std::memcpy(bytes_.data(), &head, sizeof(head));
  return all;
}

void FrameBatchWriter::clear() {
  bytes_.clear();
  count_ = 0;
}

bool FrameBatchReader::is_batch(ByteView frame) {
  return frame.size() >= sizeof(Pair) && (static_cast<unsigned>(frame[0]) & 3U) == kTag;
}

FrameBatchReader::FrameBatchReader(ByteView batch) {
  const Pair head = pair_at(batch);
  malformed_ = head.first != kTag || head.second == 0 || batch.size() > kLargestFrameBatch;
  left_ = head.second;
  rest_ = batch.subspan(sizeof(Pair));
}

ByteView FrameBatchReader::next() {
  if (malformed_) return {};
  if (left_ == 0) {
    malformed_ = !rest_.empty();
    return {};
  }
  malformed_ = true;  // until shown to be whole
  if (rest_.size() < sizeof(Pair)) return {};
  const Pair size = pair_at(rest_);
  rest_ = rest_.subspan(sizeof(Pair));
  const std::size_t bytes = size.first;
  if (size.second != 0 || bytes == 0 || bytes > kLargestBatchedFrame ||
      padded(bytes) > rest_.size())
    return {};
  const ByteView frame = rest_.first(bytes);
  rest_ = rest_.subspan(padded(bytes));
  --left_;
  malformed_ = false;
  return frame;
}

}  // namespace sterna
