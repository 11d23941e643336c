// HostAverage: the ranks of one worker, which to the servers are one (gradient.host): their
// gradients are averaged as they complete, and a tensor's average is encoded as soon as the last of
// them has come.
//
// (((0 + g_0) + g_1) + ...) / ranks in fp32 and in that order, as servers average what ranks send
// (kernels/sums/aggregate.h): whichever rank is done first, the bits are the same. There is one sum
// for each tensor, where the gradients lie (average_sums.h); what comes before its turn is copied,
// and waits. Of several devices the first rank's has the sums, and those of others come there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "actors/encode/average_sums.h"
#include "actors/encode/gradient_encoder.h"

namespace sterna::actors {

class HostAverage {
 public:
  /// Of job.averaged_ranks ranks; `encoder` is that of the first, and copies nothing.
  HostAverage(const JobConfig& job, const ParameterTable& table, std::unique_ptr<AverageSums> sums,
              std::unique_ptr<GradientEncoder> encoder);

  /// The ranks' gradients of `step` follow. Nothing of the step before is held any more.
  void begin(std::uint64_t step);
  /// A rank's gradient of one tensor, once in a step; from any thread. On a device it stays as it
  /// is until wait(). Errors: the encoder's, the device's.
  Result<void> add(std::uint32_t rank, std::uint32_t tensor, const nets::Gradient& gradient);
  /// Around gradients that a rank adds at once; from any thread. The averages that are complete
  /// then are encoded together (EncodeArithmetic::gather()). Errors: the encoder's.
  void gather();
  Result<void> launch();
  /// Waits until what the rank has added may change. Errors: the device's.
  Result<void> wait(std::uint32_t rank) { return arithmetic_->finish(rank % ranks_); }
  /// A rank has added all of its own; from any thread. After the last, what has its scalers is on
  /// its way. Errors: the encoder's.
  Result<void> end();

  /// Between steps, or after the last rank's end(): else it is used by add().
  GradientEncoder& encoder() { return *encoder_; }

 private:
  struct Sum {
    std::mutex mutex;
    std::uint32_t added = 0;  ///< ranks of this step
    std::map<std::uint32_t, AverageSums::Held> early;
  };
  Result<void> add_next(std::uint32_t tensor, const nets::Gradient& gradient);

  std::uint32_t ranks_;
  std::unique_ptr<AverageSums> arithmetic_;
  std::deque<Sum> sums_;  // by tensor
  std::mutex encoding_;
  std::unique_ptr<GradientEncoder> encoder_;  // guarded by encoding_, while ranks add
  std::uint32_t ended_ = 0;                   // so many ranks; guarded by encoding_
};

}  // namespace sterna::actors
