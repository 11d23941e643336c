// What a worker makes on its devices before its first step, made once more to see what it takes.
#pragma once

#include <cstdint>

#include "actors/job/args.h"
#include "actors/job/device_fit.h"
#include "runtime/base/clock.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Of a worker.
struct RanksOnDevices {
  WorkerArgs args;
  std::uint32_t shards = 1;    ///< of the parameters
  std::uint32_t replicas = 1;  ///< nets on which its ranks take turns
  bool exchanges = false;      ///< gradients among its devices
  bool keeps = false;          ///< what lossy codecs leave where it outlives the worker
};

/// Makes the nets and what the ranks keep as Worker::make_replicas() does, on these devices and
/// with these batches, and lets it go. Errors: those of making it.
Result<void> make_once(const RanksOnDevices& ranks, const BatchSizes& sizes,
                       const MadeOnDevices::Devices& on, const Clock& clock);

}  // namespace sterna::actors
