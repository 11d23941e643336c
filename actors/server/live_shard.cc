#include "actors/server/live_shard.h"

#include <memory>
#include <utility>

namespace sterna::actors {
namespace {

/// About as much as one answer to a pull carries, so that workers get chunks as they complete.
constexpr std::uint64_t kElementsPerUpdate = kUnitsPerChunk * kUnitElements;
/// An update this small is done sooner than a compute thread wakes up (about 15 µs).
constexpr std::uint64_t kElementsOnLoop = 32768;

}  // namespace

void LiveShard::begin(Shard shard) {
  shard_ = std::move(shard);
  changed_.resize(shard_->table().chunks.size());
}

void LiveShard::wake_all() {
  for (Condition& chunk : changed_) chunk.notify_all();
}

Result<PushReply> LiveShard::accept(Push push) {
  Span decoding = trace_.takes(push, changed_.size());
  Result<PushReply> reply = shard_->accept(std::move(push));
  decoding.end();
  return reply;
}

std::vector<std::uint32_t> LiveShard::chunks_of(const Push& push) const {
  std::vector<std::uint32_t> chunks;
  for (const Packet& packet : push.packets) {
    if (packet.chunk < changed_.size()) chunks.push_back(packet.chunk);
  }
  return chunks;
}

void LiveShard::wake(const std::vector<std::uint32_t>& chunks) {
  if (!job_.in_step()) {
    for (const std::uint32_t chunk : chunks) changed_[chunk].notify_all();
  }
  update();
}

void LiveShard::update() {
  if (!updating_) actor_.process().run_task(actor_.self().id.local, make_updates());
}

Task<void> LiveShard::pause() {
  pauses_ = true;
  while (updating_) co_await paused_.wait();
}

Task<void> LiveShard::make_updates() {
  updating_ = true;
  while (!pauses_) {
    auto updates = std::make_shared<ChunkUpdates>(shard_->take_ready(kElementsPerUpdate));
    if (updates->empty()) break;
    const std::vector<std::uint32_t> chunks = updates->chunks();
    const std::uint64_t step = shard_->version(chunks.front());
    updates->set_trace(trace_.updates(step, chunks));
    if (updates->elements() <= kElementsOnLoop) {
      updates->run();
    } else {
      auto done = on_compute_thread_([updates] { updates->run(); });
      co_await done;
    }
    shard_->publish(std::move(*updates));
    if (step + 1 == job_.steps) trace_.flush();
    for (const std::uint32_t chunk : chunks) changed_[chunk].notify_all();
    events_.published();
  }
  updating_ = false;
  paused_.notify_all();
  events_.rests();
}

}  // namespace sterna::actors
