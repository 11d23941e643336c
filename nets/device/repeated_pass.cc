#include "nets/backend/repeated_pass.h"

#include <exception>
#include <string>

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

/// The first time the pass is run, which leaves nothing to be made; the second it is recorded, and
/// that is repeated from then on. What cannot be recorded is run each time, and told of among the
/// plans: it costs a launch for each piece of it.
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
    if (const Result<void> begun = context_.stream->begin_recording(); !begun) {
      return give_up(begun.error().message);
    }
    std::string failed;
    try {
      work();
    } catch (const std::exception& failure) {  // which is thrown again where the pass is run
      failed = failure.what();
    }
    Result<std::unique_ptr<kernels::DeviceRecording>> made = context_.stream->end_recording();
    if (!made) return give_up(made.error().message);
    if (!failed.empty()) return give_up(failed);
    recording_ = std::move(made).value();
    return true;
  }
  bool give_up(const std::string& why) {
    // Before all others: of many names the last are left out.
    context_.plans.insert(context_.plans.begin(), "no recorded pass: " + why);
    return false;
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
