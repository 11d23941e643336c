#include "nets/backend/repeated_pass.h"

#include <exception>

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

/// The first time the pass is run, which leaves nothing to be made; the second it is recorded, and
/// that is repeated from then on. What cannot be recorded is run each time.
class DeviceRepeatedPass final : public RepeatedPass {
 public:
  explicit DeviceRepeatedPass(DeviceContext& context) : context_(context) {}

  void run(const std::function<void()>& work) override {
    if (recording_ != nullptr) return must(context_.stream->repeat(*recording_));
    if (++times_ == 2 && record(work)) return must(context_.stream->repeat(*recording_));
    work();
  }

 private:
  bool record(const std::function<void()>& work) {
    if (!context_.stream->begin_recording()) return false;
    bool recorded = true;
    try {
      work();
    } catch (const std::exception&) {  // which is thrown again where the pass is run
      recorded = false;
    }
    Result<std::unique_ptr<kernels::DeviceRecording>> made = context_.stream->end_recording();
    if (!recorded || !made) return false;
    recording_ = std::move(made).value();
    return true;
  }

  DeviceContext& context_;
  std::size_t times_ = 0;
  std::unique_ptr<kernels::DeviceRecording> recording_;
};

}  // namespace

std::unique_ptr<RepeatedPass> device_repeated_pass(DeviceContext& context) {
  return std::make_unique<DeviceRepeatedPass>(context);
}

}  // namespace sterna::nets
