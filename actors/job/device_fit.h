// What a net's batch takes of devices' memory, and which one fits: told where one did not, before
// the first step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device/device.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// How many images are in a step, and pass through a net at once; 0: all of them.
struct BatchSizes {
  std::uint32_t batch = 0;
  std::uint32_t micro_batch = 0;
};

/// What an actor makes on its devices before its first step.
struct MadeOnDevices {
  using Devices = std::vector<std::shared_ptr<kernels::Device>>;
  std::string net;
  std::string key;   ///< of the batch: "job.batch"
  BatchSizes sizes;  ///< that it is to have
  /// Whether several passes, for which job.micro_batch stands, may make a step.
  bool splits = false;
  Devices devices;  ///< as the actor uses them: one may be there twice
  /// Makes all of it on these in their place, and lets it go.
  std::function<Result<void>(const BatchSizes& sizes, const Devices& on)> make;
};

/// `refused`: why it could not be made, of which nothing is left. Where that is for lack of memory
/// (overloaded), the same with what is needed, what is free, and the largest batch that fits, each
/// counted by making it on devices that only count (kernels::CountingDevice); else as it was. Takes
/// as long as the devices' libraries take for a few nets' plans, each shape of a convolution once.
Error memory_error(const Error& refused, const MadeOnDevices& what);

}  // namespace sterna::actors
