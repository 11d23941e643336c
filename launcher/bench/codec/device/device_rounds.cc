#include "launcher/bench/codec/device/device_rounds.h"

#include <memory>

namespace sterna::launcher {

Result<RoundTimes> measure_on(kernels::Device& device, kernels::DeviceStream& stream,
                              const std::vector<DeviceContender>& contenders, int rounds) {
  RoundTimes times;
  STERNA_ASSIGN(const std::unique_ptr<kernels::DeviceEvent> begin,
                device.make_event(kernels::EventUse::timing));
  STERNA_ASSIGN(const std::unique_ptr<kernels::DeviceEvent> end,
                device.make_event(kernels::EventUse::timing));
  for (int round = -1; round < rounds; ++round) {
    for (const DeviceContender& contender : contenders) {
      STERNA_TRY(stream.record(*begin));
      for (const auto& pass : contender.passes) STERNA_TRY(pass());
      STERNA_TRY(stream.record(*end));
      STERNA_TRY(stream.finish());
      STERNA_ASSIGN(const double seconds, device.seconds(*begin, *end));
      if (round < 0) continue;
      times.add(contender.name, seconds / static_cast<double>(contender.passes.size()));
    }
  }
  return times;
}

}  // namespace sterna::launcher
