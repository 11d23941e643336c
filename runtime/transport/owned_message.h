// OwnedMessage: a message whose frames have their bytes already, as it is received later.
#pragma once

#include <vector>

#include "runtime/transport/transport.h"

namespace sterna {

class OwnedMessage final : public InMessage {
 public:
  /// `frames` must outlive it.
  explicit OwnedMessage(const std::vector<Bytes>& frames) : frames_(frames) {}
  std::size_t frames() const override { return frames_.size(); }
  ByteView frame(std::size_t index) const override { return frames_[index].view(); }
  Bytes keep(std::size_t index) override { return frames_[index]; }

 private:
  const std::vector<Bytes>& frames_;
};

}  // namespace sterna
