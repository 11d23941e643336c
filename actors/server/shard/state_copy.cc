#include "actors/server/shard/state_copy.h"

#include <algorithm>
#include <utility>

#include "kernels/optimizer/optimizer.h"

namespace sterna::actors {

StateCopy::StateCopy(const Buffer& parameters, const std::vector<std::shared_ptr<Buffer>>& slots,
                     const Buffer* average, std::vector<SummedStep> steps, BufferPool& pool)
    : count_(parameters.size() / sizeof(float)),
      slots_(slots.size()),
      averages_(average != nullptr),
      values_(pool.take(parameters.size() * (1 + slots.size() + (averages_ ? 1 : 0)))),
      steps_(std::move(steps)) {
  auto to = std::ranges::copy(parameters.as<float>(), values_->as<float>().begin()).out;
  for (const auto& slot : slots) to = std::ranges::copy(slot->as<float>(), to).out;
  if (averages_) std::ranges::copy(average->as<float>(), to);
}

std::shared_ptr<const Buffer> StateCopy::made(kernels::Isa isa) {
  const std::span<float> all = values_->as<float>();
  const std::span<float> parameters = all.first(count_);
  std::vector<std::span<float>> slots;
  for (std::size_t i = 1; i <= slots_; ++i) slots.push_back(all.subspan(i * count_, count_));
  const std::span<float> average = averages_ ? all.last(count_) : std::span<float>();
  std::vector<kernels::SumStep> steps;
  for (const SummedStep& step : steps_) {
    steps.push_back({{step.ranks, step.scaler, step.sums.view()}, step.options});
  }
  if (!steps.empty()) {
    kernels::update(steps,
                    {.current = parameters,
                     .slots = slots,
                     .next = parameters,
                     .average = average,
                     .next_average = average},
                    isa);
  }
  return values_;
}

}  // namespace sterna::actors
