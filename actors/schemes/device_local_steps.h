// DeviceLocalSteps: what LocalSteps are, of a rank on a device (bit for bit where gradients are).
// All of it lies there, and is done on the stream that writes the net's parameters: the next pass
// waits for it, and it for the last one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/schemes/scheme.h"
#include "nets/net.h"

namespace sterna::actors {

/// Of one net, and used by one thread at a time. All errors are the device's.
class DeviceLocalSteps {
 public:
  virtual ~DeviceLocalSteps() = default;
  /// Where what is pushed of a tensor lies.
  virtual std::span<const float> place(std::uint32_t tensor) const = 0;
  /// The gradients of this step follow.
  void begin(const RankStep& step) { step_ = step; }
  /// Puts the step from a tensor's gradient on its way, which stays until the next pass. What is to
  /// be pushed of it, which stays until the next call for that tensor; empty: nothing yet.
  virtual Result<nets::Gradient> gradient(nets::Net& net, std::uint32_t tensor,
                                          const nets::Gradient& gradient) = 0;
  /// Whether sent() is to be called.
  virtual bool follows_what_is_sent() const { return false; }
  /// As LocalSteps::sent(): in the host's memory.
  virtual Result<void> sent(nets::Net& net, const TableChunk& place,
                            std::span<const float> decoded) {
    static_cast<void>(net), static_cast<void>(place), static_cast<void>(decoded);
    return {};
  }
  /// As LocalSteps::came().
  virtual Result<void> came(nets::Net& net, const TableChunk& place,
                            std::span<const float> theirs) = 0;
  /// As LocalSteps::kept(), read from the device into arrays that stay.
  virtual Result<std::vector<KeptArray>> kept(nets::Net& net) = 0;
  /// What kept() gave is of a checkpoint now; without `place` the slots alone are.
  virtual Result<void> restored(nets::Net& net, bool place) = 0;

 protected:
  const RankStep& step() const { return step_; }

 private:
  RankStep step_;
};

}  // namespace sterna::actors
