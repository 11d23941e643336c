#include "actors/trainer_steps.h"

#include <span>
#include <utility>

#include "kernels/device/tables.h"

namespace sterna::actors {

using kernels::DeviceArray;
using kernels::DeviceStep;
using kernels::PinnedArray;

Result<std::unique_ptr<TrainerSteps>> TrainerSteps::make(const JobConfig& job,
                                                         const UpdateRule& rule,
                                                         std::shared_ptr<kernels::Device> device,
                                                         nets::Net& net) {
  const auto by = kernels::device_rule(job.optimizer.name);
  if (!by) {
    return Error{Errc::invalid_argument,
                 "no device steps by optimizer.name = \"" + job.optimizer.name + "\""};
  }
  STERNA_ASSIGN(const kernels::Isa isa, kernels::parse_isa(job.cpu_isa));
  std::unique_ptr<TrainerSteps> made(new TrainerSteps(rule, isa, std::move(device)));
  const auto& specs = net.parameters();
  made->tensors_.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role == nets::Role::statistic || !job.init.trains(specs[i].name)) continue;
    STERNA_TRY(net.update_parameter(i, [&](kernels::DeviceStream& stream, float* values) {
      return made->plan(made->tensors_[i], *by, net.gradient_place(i), values, stream);
    }));
  }
  return made;
}

Result<void> TrainerSteps::plan(Tensor& tensor, kernels::DeviceRule by,
                                std::span<const float> gradient, float* values,
                                kernels::DeviceStream& stream) {
  kernels::Device& on = *device_;
  const std::size_t count = gradient.size();
  STERNA_ASSIGN(tensor.sent, on.make_event());
  STERNA_ASSIGN(tensor.step_here, PinnedArray<DeviceStep>::make(on, 1));
  STERNA_ASSIGN(tensor.step_there, DeviceArray<DeviceStep>::make(on, 1));
  const kernels::DevicePacket packet{std::as_bytes(gradient).data(), nullptr,
                                     kernels::Packing::fp32};
  STERNA_ASSIGN(tensor.packet, kernels::uploaded<kernels::DevicePacket>(on, stream, {&packet, 1}));
  const std::vector<float> start = rule_.initial_slots(count);
  if (!start.empty()) {
    STERNA_ASSIGN(tensor.slots, kernels::uploaded<float>(on, stream, start));
  }
  kernels::UpdatedTensor updated{
      .elements = count, .packets = tensor.packet.data(), .current = values, .next = values};
  kernels::set_slots(updated, tensor.slots.data(), rule_.slots().size());
  std::vector<kernels::UpdateWork> work;
  kernels::append_update(updated, work);
  STERNA_ASSIGN(tensor.work, kernels::uploaded<kernels::UpdateWork>(on, stream, work));
  tensor.launch = {.work = tensor.work.data(),
                   .count = static_cast<std::uint32_t>(work.size()),
                   .ranks = 1,
                   .rule = by,
                   .step = tensor.step_there.data()};
  return {};
}

Result<void> TrainerSteps::step(nets::Net& net, std::size_t index, const nets::Gradient& gradient,
                                std::uint64_t step) {
  const nets::ParameterSpec& spec = net.parameters()[index];
  if (spec.role == nets::Role::statistic) return move_statistic(net, index, gradient, step);
  Tensor& tensor = tensors_[index];
  if (tensor.launch.count == 0) return {};
  return net.update_parameter(index, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
    STERNA_TRY(tensor.sent->wait());  // long ago, for the version before
    *tensor.step_here.data() = kernels::device_step(rule_.options_at(spec, step));
    STERNA_TRY(tensor.step_there.upload(stream, tensor.step_here.elements()));
    STERNA_TRY(stream.record(*tensor.sent));
    if (gradient.complete != nullptr) STERNA_TRY(stream.wait_for(*gradient.complete));
    return stream.update(tensor.launch);
  });
}

Result<void> TrainerSteps::move_statistic(nets::Net& net, std::size_t index,
                                          const nets::Gradient& gradient,
                                          std::uint64_t step) const {
  const nets::ParameterSpec& spec = net.parameters()[index];
  std::vector<float> of_batch(gradient.values.size());
  STERNA_TRY(
      net.update_parameter(index, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
        if (gradient.complete != nullptr) STERNA_TRY(stream.wait_for(*gradient.complete));
        STERNA_TRY(
            stream.copy(of_batch.data(), gradient.values.data(), gradient.values.size_bytes()));
        return stream.finish();
      }));
  std::vector<float> values(of_batch.size());
  STERNA_TRY(net.read_parameter(index, 0, values));
  const kernels::Packet packet{.packing = kernels::Packing::fp32,
                               .payload = std::as_bytes(std::span(of_batch))};
  kernels::update(std::span(&packet, 1), rule_.options_at(spec, step),
                  {.current = values, .slots = {}, .next = values}, isa_);
  return net.write_parameter(index, 0, values);
}

}  // namespace sterna::actors
