#include "actors/trainer_steps.h"

#include <span>
#include <utility>

namespace sterna::actors {

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
    const auto plan = [&](kernels::DeviceStream& stream, float* values) -> Result<void> {
      STERNA_ASSIGN(DeviceUpdate update, DeviceUpdate::make(*made->device_, stream, rule, *by,
                                                            net.gradient_place(i).size(), values));
      made->tensors_[i].emplace(std::move(update));
      return {};
    };
    STERNA_TRY(net.update_parameter(i, plan));
  }
  return made;
}

Result<void> TrainerSteps::step(nets::Net& net, std::size_t index, const nets::Gradient& gradient,
                                std::uint64_t step) {
  const nets::ParameterSpec& spec = net.parameters()[index];
  if (spec.role == nets::Role::statistic) return move_statistic(net, index, gradient, step);
  std::optional<DeviceUpdate>& tensor = tensors_[index];
  if (!tensor) return {};
  return net.update_parameter(index, [&](kernels::DeviceStream& stream, float*) -> Result<void> {
    if (gradient.complete != nullptr) STERNA_TRY(stream.wait_for(*gradient.complete));
    return tensor->step(rule_.options_at(spec, step), gradient.values, stream);
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
