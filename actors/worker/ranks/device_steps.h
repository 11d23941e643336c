// DeviceSteps: a replica's parameters on a device step there, by averages that come from servers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/job/messages.h"
#include "actors/parameters/parameter_table.h"
#include "actors/parameters/update_rule.h"
#include "kernels/device/device_array.h"
#include "nets/net.h"

namespace sterna::actors {

/// What of a job no device does yet. Errors: invalid_argument, with the key.
Result<void> check_device_job(const JobSections& job);

/// Of one net, whose stream that writes parameters it works on. Used by one thread at a time.
class DeviceSteps {
 public:
  /// Makes all that steps take, and waits until it is there. Errors: the device's.
  static Result<std::unique_ptr<DeviceSteps>> make(const JobConfig& job,
                                                   std::shared_ptr<const ParameterTable> table,
                                                   const UpdateRule& rule,
                                                   std::shared_ptr<kernels::Device> device,
                                                   nets::Net& net);
  ~DeviceSteps();
  DeviceSteps(const DeviceSteps&) = delete;
  DeviceSteps& operator=(const DeviceSteps&) = delete;

  /// Puts the step of one chunk of an opened answer on its way. Errors: the device's; malformed for
  /// an average of a kind that the job has none of.
  Result<void> step(nets::Net& net, const Parameters& answer, const ParameterChunk& taken);
  /// The optimizer's slots of a chunk are these, one after the other, as fp32.
  Result<void> restore(nets::Net& net, std::uint32_t chunk, ByteView slots);

 private:
  /// All that the host sends for one step.
  struct Sent {
    float scaler = 0;
    kernels::DeviceStep step;
  };
  /// The step from averages of one kind.
  struct Way {
    kernels::DeviceArray<kernels::UpdateWork> work;
    kernels::UpdateLaunch launch;  // of no chunk: no such average comes
  };
  struct Chunk {
    std::unique_ptr<kernels::DeviceEvent> sent;  // what was sent last has left
    kernels::PinnedArray<Sent> sent_here;
    kernels::DeviceArray<Sent> sent_there;
    kernels::PinnedArray<std::byte> payload_here;
    kernels::DeviceArray<std::byte> payload;
    kernels::DeviceArray<kernels::DevicePacket> packet;
    Way of_sums, of_floats;
    kernels::DeviceArray<float> slots;  // one after the other
  };
  DeviceSteps(const JobConfig& job, std::shared_ptr<const ParameterTable> table,
              const UpdateRule& rule, std::shared_ptr<kernels::Device> device);
  Result<void> plan(std::uint32_t index, float* values, kernels::DeviceStream& stream);
  Result<void> plan_way(Chunk& chunk, const TableChunk& place, bool sums, float* values,
                        kernels::DeviceStream& stream);

  JobConfig job_;
  std::shared_ptr<const ParameterTable> table_;
  UpdateRule rule_;
  std::shared_ptr<kernels::Device> device_;
  std::vector<Chunk> chunks_;
};

}  // namespace sterna::actors
