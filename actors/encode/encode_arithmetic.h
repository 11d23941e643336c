// EncodeArithmetic: measures gradients and makes packets of them, wherever they lie. What is made
// of which gradient, and under which scalers, is GradientEncoder's to say; what comes of it is told
// when it is there: at once on the host, later on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/job/messages.h"
#include "nets/tensor/gradient.h"
#include "runtime/base/bytes.h"
#include "runtime/base/result.h"

namespace sterna::actors {

/// Of one rank. Used by one thread at a time.
class EncodeArithmetic {
 public:
  /// What is wanted of one gradient.
  struct Order {
    std::uint32_t tensor = 0;
    nets::Gradient gradient = {};  ///< as it is until it was told of, or kept
    bool packs = true;             ///< by the codec that the table has for the step
    /// What trits stand for, one for each scaler of the tensor; nothing: the gradient's own.
    std::optional<std::vector<float>> scalers = std::nullopt;
    bool measures = false;  ///< its own scalers are wanted: before the packets, unless those are
                            ///< made under others, in the same pass
    bool kept = false;      ///< the gradient is what keep() gave in this step
  };

  /// Hears what came of orders, in their order, on the thread that gives them.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// A chunk's payload; of trits, how many are not 0. Of a tensor whose packet stays on a device
    /// its first chunk alone, with an empty payload.
    virtual void packed(std::uint32_t chunk, float scaler, Bytes payload,
                        std::uint64_t nonzero) = 0;
    struct Measured {
      std::vector<float> scalers;   ///< the gradient's own
      std::uint64_t elements = 0;   ///< that were compared with a scaler of others, of which ...
      std::uint64_t saturated = 0;  ///< ... so many are larger
    };
    virtual void measured(std::uint32_t tensor, const Measured& found) = 0;
  };

  /// Where gradients of a tensor may lie.
  struct Expected {
    std::uint32_t tensor = 0;
    std::span<const float> place;
  };

  virtual ~EncodeArithmetic() = default;
  /// Before the first step: all places where gradients may lie, and what their packets take is made
  /// now. Errors: the device's.
  virtual Result<void> expect(std::span<const Expected> /*gradients*/) { return {}; }
  /// Orders of `step` follow.
  virtual void begin(std::uint64_t step) = 0;
  /// Errors: non_finite of this gradient, where it is known at once.
  virtual Result<void> start(const Order& order, Listener& listener) = 0;
  /// The orders that follow are given at once: on a device a launch may serve many of them, which
  /// is made by launch() at the latest. May be within another gather(), whose launch() counts.
  virtual void gather() {}
  virtual Result<void> launch() { return {}; }
  /// Waits until all orders were told of. Errors: non_finite, with the tensor's name; the device's.
  virtual Result<void> finish(Listener& listener) = 0;
  /// A gradient of which there will be another order in this step: where it lies then. It was
  /// measured.
  virtual nets::Gradient keep(std::uint32_t tensor, const nets::Gradient& gradient) = 0;

  /// What error feedback keeps of each tensor, between steps; empty where it keeps none. Errors:
  /// the device's.
  virtual Result<std::vector<std::vector<float>>> residuals() = 0;
  virtual void restore(const std::vector<std::vector<float>>& residuals) = 0;
  /// Between steps: a packet that did not count goes with the next one, with error feedback.
  virtual Result<void> give_back(const Packet& packet) = 0;
  /// The same, once it is known which chunks had their packet of this step from a worker that was
  /// lost: of these what that one left stays, of the others it is this step's.
  virtual void settle(std::span<const std::uint32_t> repeated) = 0;
};

}  // namespace sterna::actors
