// ServingWorker: the one worker of a job without servers (gradient.exchange), and what servers are
// elsewhere, in one process.
//
// To the evaluator and the keeper of checkpoints it is the parameter server of all that there is.
// Its Worker, an actor of its own, finds that server here: what the ranks push never leaves the
// process. It has all ranks, so that each version is made of the packets of all, in rank order, as
// a server makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/server/parameter_server.h"
#include "actors/worker/worker.h"

namespace sterna::actors {

class ServingWorker final : public ParameterServer {
 public:
  /// As Worker's.
  explicit ServingWorker(const WorkerArgs& args, Finder finder = find_any,
                         std::uint32_t cores = usable_cores(), Worker::Devices devices = {});

  /// The Worker's.
  Result<void> suffer_device_fault() override;

 private:
  ServingWorker(const WorkerArgs& args, const Finder& finder, std::uint32_t cores,
                Worker::Devices devices, std::shared_ptr<ServedShard> served);
  void started() override;
  /// The Worker's.
  void down(const DownNotice& notice) override { fail(notice.cause); }

  WorkerArgs worker_;
  Finder finder_;
  std::uint32_t cores_;
  Worker::Devices devices_;
  std::shared_ptr<ServedShard> served_;
  LocalId spawned_;  ///< the Worker
};

}  // namespace sterna::actors
