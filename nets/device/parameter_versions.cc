#include <mutex>
#include <vector>

#include "nets/device/operations.h"

namespace sterna::nets {
namespace {

/// A stream of its own writes: it waits for the last pass that reads a parameter, and the passes'
/// stream waits for it.
class DeviceParameterVersions final : public ParameterVersions {
 public:
  DeviceParameterVersions(DeviceContext& context, std::span<const std::size_t> elements)
      : context_(context), writer_(must(context.device->make_stream())) {
    for (const std::size_t count : elements) {
      Parameter& made = parameters_.emplace_back();
      made.staged = must(kernels::PinnedArray<float>::make(*context.device, count));
      made.released = must(context.device->make_event(kernels::EventUse::streams));
      made.written = must(context.device->make_event(kernels::EventUse::host));
      made.completed = must(context.device->make_event(kernels::EventUse::streams));
    }
  }
  ~DeviceParameterVersions() override { static_cast<void>(writer_->finish()); }

  void write(std::size_t index, Tensor& to, std::size_t first,
             std::span<const float> values) override {
    const std::lock_guard lock(mutex_);
    Parameter& parameter = parameters_[index];
    if (std::exchange(parameter.read, false)) must(parameter.written->wait());
    const std::span<float> staged = parameter.staged.elements().subspan(first, values.size());
    std::ranges::copy(values, staged.begin());
    put(parameter,
        [&] { return writer_->copy(to.data() + first, staged.data(), staged.size_bytes()); });
  }
  void write_by(std::size_t index, Tensor& to, const Work& work) override {
    const std::lock_guard lock(mutex_);
    put(parameters_[index], [&] { return work(*writer_, to.data()); });
  }
  void read(std::size_t index, const Tensor& from, std::size_t first,
            std::span<float> out) override {
    const std::lock_guard lock(mutex_);
    must(writer_->copy(out.data(), from.data() + first, out.size_bytes()));
    must(writer_->finish());
    static_cast<void>(index);
  }
  void changed(std::size_t index) override {
    const std::lock_guard lock(mutex_);
    Parameter& parameter = parameters_[index];
    must(context_.stream->wait_for(*parameter.written));
    parameter.read = true;
  }
  void released(std::size_t first, std::size_t end) override {
    const std::lock_guard lock(mutex_);
    if (first == end) return;
    kernels::DeviceEvent& all = *parameters_[first].released;
    must(context_.stream->record(all));
    for (std::size_t i = first; i < end; ++i) parameters_[i].released_with = &all;
  }
  kernels::DeviceEvent* completed(std::size_t index) override {
    kernels::DeviceEvent* const event = parameters_[index].completed.get();
    must(context_.stream->record(*event));
    return event;
  }

 private:
  struct Parameter {
    std::unique_ptr<kernels::DeviceEvent> released, written, completed;
    kernels::DeviceEvent* released_with = nullptr;  // its own, or of one before it; null: none yet
    kernels::PinnedArray<float> staged;             // what comes, until it is written
    bool read = false;                              // by a pass, since it was written
  };

  /// After the last pass that reads it, and before the next.
  template <class Write>
  void put(Parameter& parameter, Write write) {
    if (parameter.released_with != nullptr) must(writer_->wait_for(*parameter.released_with));
    must(write());
    must(writer_->record(*parameter.written));
  }

  DeviceContext& context_;
  std::unique_ptr<kernels::DeviceStream> writer_;
  std::mutex mutex_;  // events are recorded by the one thread and waited for by the other
  std::vector<Parameter> parameters_;
};

}  // namespace

std::unique_ptr<ParameterVersions> device_parameter_versions(
    DeviceContext& context, std::span<const std::size_t> elements) {
  return std::make_unique<DeviceParameterVersions>(context, elements);
}

}  // namespace sterna::nets
