#include "actors/schemes/window_steps.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sterna::actors {

Result<LocalOptimizer> LocalOptimizer::make(const JobConfig& job, std::uint32_t rank,
                                            std::shared_ptr<const ParameterTable> table) {
  LocalOptimizer made;
  STERNA_ASSIGN(made.rule_, UpdateRule::make_local(job));
  STERNA_ASSIGN(made.isa_, kernels::parse_isa(job.cpu_isa));
  made.table_ = std::move(table);
  made.name_ = job.local_optimizer.name;
  made.factor_ = job.rate_of(rank);
  made.slots_.resize(made.table_->tensors.size());
  return made;
}

kernels::UpdateOptions LocalOptimizer::options(const RankStep& step, std::uint32_t tensor) const {
  return rule_.options(table_->tensors[tensor].spec,
                       rule_.local_constants(step.version, step.step - step.slots_begin, factor_));
}

void LocalOptimizer::step(const RankStep& step, std::uint32_t tensor, std::span<const float> g,
                          std::span<float> w) {
  const std::vector<std::span<float>> slots = slots_of(tensor);
  const kernels::Packet packet{.packing = kernels::Packing::fp32, .payload = std::as_bytes(g)};
  kernels::update(std::span(&packet, 1), options(step, tensor),
                  {.current = w, .slots = slots, .next = w}, isa_);
}

std::vector<std::span<float>> LocalOptimizer::slots_of(std::uint32_t tensor) {
  auto& buffers = slots_[tensor];
  const TableTensor& place = table_->tensors[tensor];
  if (buffers.empty()) buffers = rule_.make_slots(place.spec, place.count);
  std::vector<std::span<float>> slots;
  slots.reserve(buffers.size());
  for (const auto& slot : buffers) slots.push_back(slot->as<float>());
  return slots;
}

std::vector<KeptArray> LocalOptimizer::slots() {
  std::vector<KeptArray> kept;
  for (std::uint32_t tensor = 0; tensor < table_->tensors.size(); ++tensor) {
    const TableTensor& place = table_->tensors[tensor];
    if (place.spec.role == nets::Role::statistic || place.frozen) continue;
    const std::vector<std::span<float>> slots = slots_of(tensor);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      kept.push_back({fmt::format("{}.{}", name_, i), tensor, slots[i]});
    }
  }
  return kept;
}

float LocalOptimizer::rate(const RankStep& step) const {
  return static_cast<float>(rule_.rate(step.version) * factor_);
}

WindowSteps::WindowSteps(LocalOptimizer optimizer, std::shared_ptr<const ParameterTable> table,
                         std::uint64_t window, Pushed pushed)
    : optimizer_(std::move(optimizer)), table_(std::move(table)), window_(window), pushed_(pushed) {
  sums_.resize(table_->tensors.size());
  begun_.resize(table_->tensors.size());
  bases_.resize(table_->tensors.size());
}

std::span<const float> WindowSteps::gradient(std::uint32_t tensor, std::span<const float> g,
                                             std::span<float> w) {
  const bool statistic = table_->tensors[tensor].spec.role == nets::Role::statistic;
  std::vector<float>& sum = sums_[tensor];
  if (!begun_[tensor]) {
    sum.assign(g.begin(), g.end());
  } else {
    std::ranges::transform(sum, g, sum.begin(), std::plus<>());
  }
  begun_[tensor] = !step_.pushes;
  if (!statistic) optimizer_.step(step_, tensor, g, w);
  if (!step_.pushes) return {};
  if (!statistic && pushed_ == Pushed::difference) {
    std::ranges::transform(w, bases_[tensor], sum.begin(), std::minus<>());
  } else if (statistic || pushed_ == Pushed::mean) {
    // Statistics are never summed: servers move towards them.
    const auto steps = static_cast<float>(window_);
    for (float& value : sum) value /= steps;
  }
  return sum;
}

void WindowSteps::came(const TableChunk& place, std::span<const float> theirs, std::span<float> w) {
  std::ranges::copy(theirs, w.begin());
  if (pushed_ != Pushed::difference) return;
  std::vector<float>& base = bases_[place.tensor];
  base.resize(table_->tensors[place.tensor].count);
  std::ranges::copy(theirs, base.begin() + static_cast<std::ptrdiff_t>(place.first));
}

}  // namespace sterna::actors
