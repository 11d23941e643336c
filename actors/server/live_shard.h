// LiveShard: a Shard on its actor's loop, and who waits there for its chunks.
//
// The loop takes packets; sums, averages and the optimizer run on a compute thread, one group of
// chunks at a time, for as long as some are complete.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "actors/job/messages.h"
#include "actors/server/server_trace.h"
#include "actors/server/shard.h"
#include "runtime/actor/process.h"

namespace sterna::actors {

/// A member of its actor. It is as a pointer to its shard, null before begin().
class LiveShard {
 public:
  /// What else follows from its updates.
  struct Events {
    std::function<void()> published;  ///< some chunks have a new version
    std::function<void()> rests;      ///< no more can be updated now
  };
  using OnComputeThread = std::function<Task<void>(std::function<void()> work)>;

  LiveShard(const Actor<ParameterServerInterface>& actor, const JobConfig& job, ServerTrace& trace,
            OnComputeThread on_compute_thread, Events events)
      : actor_(actor),
        job_(job),
        trace_(trace),
        on_compute_thread_(std::move(on_compute_thread)),
        events_(std::move(events)) {}

  void begin(Shard shard);
  Shard* operator->() { return &*shard_; }
  const Shard* operator->() const { return &*shard_; }
  Shard& operator*() { return *shard_; }

  /// The chunk has a new version, or something else that is waited for.
  Condition& changed(std::uint32_t chunk) { return changed_[chunk]; }
  /// All chunks have.
  void wake_all();

  /// As the shard's; then wake() for those of the chunks that there are.
  Result<PushReply> accept(Push push);
  std::vector<std::uint32_t> chunks_of(const Push& push) const;
  /// Who waits to have his own pushes judged, or for others to be less behind; and update().
  void wake(const std::vector<std::uint32_t>& chunks);

  /// Makes all updates that can be made, unless that is under way.
  void update();
  /// Until none is under way; and none begins before resume().
  Task<void> pause();
  void resume() { pauses_ = false; }

 private:
  Task<void> make_updates();

  const Actor<ParameterServerInterface>& actor_;
  const JobConfig& job_;
  ServerTrace& trace_;
  OnComputeThread on_compute_thread_;
  Events events_;
  std::optional<Shard> shard_;
  std::deque<Condition> changed_;  // by chunk; a deque: conditions do not move
  bool updating_ = false;
  bool pauses_ = false;  // before the next update
  Condition paused_;
};

}  // namespace sterna::actors
