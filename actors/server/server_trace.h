// What a parameter server notes of its time, in the steps that are traced
// (actors/job/trace_section.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "actors/job/messages.h"
#include "actors/job/trace_section.h"
#include "actors/server/shard/chunk_updates.h"

namespace sterna::actors {

class ServerTrace {
 public:
  ServerTrace() = default;
  explicit ServerTrace(const std::shared_ptr<Tracer>& tracer) : tracer_(tracer) {
    if (!tracer_->started()) return;
    loop_ = tracer_->track(traced::kLoop);
    push_ = tracer_->name(traced::kPush);
    decode_ = tracer_->name("decode");
    answer_ = tracer_->name(traced::kAnswer);
    quorum_ = tracer_->name(traced::kQuorum);
  }

  /// A push has come, of whom nobody knows yet whether it says chunks that there are, of so many:
  /// until the end of what this returns it is looked at and decoded.
  Span takes(const Push& push, std::size_t chunks) {
    if (!wants(push.step)) return {};
    came_.resize(chunks);
    Span span = tracer_->span(push.step, loop_, decode_, push.rank);
    tracer_->note_received(push.step, loop_, push_, push_id(push), push.rank);
    for (const Packet& packet : push.packets) {
      if (packet.chunk >= chunks) continue;
      Time& came = came_[packet.chunk];
      if (came.ns == 0) came = tracer_->now();
    }
    return span;
  }
  /// These chunks have their quorum: what is done to them.
  UpdateTrace updates(std::uint64_t step, const std::vector<std::uint32_t>& chunks) {
    if (!wants(step)) return {};
    Time first = tracer_->now();
    for (const std::uint32_t chunk : chunks) {
      if (chunk >= came_.size() || came_[chunk].ns == 0) continue;
      first = std::min(first, came_[chunk]);
      came_[chunk] = {};
    }
    tracer_->note_wait(step, loop_, quorum_, first, tracer_->now(), chunks.front());
    return UpdateTrace(tracer_, step);
  }
  /// A pull can be answered.
  Span answers(const Pull& pull, ActorId to) const {
    const std::uint64_t step = pull.newest ? pull.pushes : pull.version;
    if (!wants(step)) return {};
    Span span = tracer_->span(step, loop_, answer_);
    tracer_->note_sent(step, loop_, answer_, answer_id(pull, to.process), pull.rank);
    return span;
  }
  void flush() const {
    if (tracer_ != nullptr && tracer_->started()) tracer_->flush();
  }

 private:
  bool wants(std::uint64_t step) const { return tracer_ != nullptr && tracer_->wants(step); }
  std::shared_ptr<Tracer> tracer_;
  TraceTrack loop_;
  TraceName push_, decode_, answer_, quorum_;
  std::vector<Time> came_;  // by chunk: the first packet of its next version
};

}  // namespace sterna::actors
