#include "actors/encode/host_average.h"

#include <cassert>
#include <utility>

namespace sterna::actors {

HostAverage::HostAverage(const JobConfig& job, const ParameterTable& table,
                         std::unique_ptr<AverageSums> sums,
                         std::unique_ptr<GradientEncoder> encoder)
    : ranks_(job.averaged_ranks),
      arithmetic_(std::move(sums)),
      sums_(table.tensors.size()),
      encoder_(std::move(encoder)) {}

void HostAverage::begin(std::uint64_t step) {
  for (Sum& sum : sums_) {
    assert(sum.early.empty());
    sum.added = 0;
  }
  ended_ = 0;
  encoder_->begin(step);
}

Result<void> HostAverage::add_next(std::uint32_t tensor, const nets::Gradient& gradient) {
  const bool first = sums_[tensor].added++ == 0;
  return first ? arithmetic_->start(tensor, gradient) : arithmetic_->add(tensor, gradient);
}

Result<void> HostAverage::add(std::uint32_t rank, std::uint32_t tensor,
                              const nets::Gradient& gradient) {
  const std::uint32_t place = rank % ranks_;
  Sum& sum = sums_[tensor];
  const std::lock_guard adding(sum.mutex);
  if (place != sum.added || !arithmetic_->reaches(place)) {
    STERNA_ASSIGN(AverageSums::Held held, arithmetic_->hold(tensor, place, gradient));
    sum.early.emplace(place, std::move(held));
  } else {
    STERNA_TRY(add_next(tensor, gradient));
  }
  for (auto next = sum.early.find(sum.added); next != sum.early.end();
       next = sum.early.find(sum.added)) {
    STERNA_TRY(add_next(tensor, next->second.gradient));
    sum.early.erase(next);
  }
  if (sum.added < ranks_) return {};
  STERNA_ASSIGN(const nets::Gradient average, arithmetic_->average(tensor, ranks_));
  const std::lock_guard encoding(encoding_);
  return encoder_->add(tensor, average);
}

void HostAverage::gather() {
  const std::lock_guard lock(encoding_);
  encoder_->gather();
}

Result<void> HostAverage::launch() {
  const std::lock_guard lock(encoding_);
  return encoder_->launch();
}

Result<void> HostAverage::end() {
  const std::lock_guard lock(encoding_);
  if (++ended_ < ranks_) return {};
  STERNA_TRY(encoder_->encode_held());
  encoder_->flush();
  return {};
}

}  // namespace sterna::actors
