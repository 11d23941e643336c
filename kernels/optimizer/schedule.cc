#include "kernels/optimizer/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace sterna::kernels {

// The schedules that there are, in the order of the keys that they bring.
#define STERNA_SCHEDULES(line) \
  line(fixed_schedule) line(exponential_schedule) line(polynomial_schedule) line(cosine_schedule)

#define STERNA_DECLARE(make) Schedule make();
#define STERNA_CALL(make) make(),
STERNA_SCHEDULES(STERNA_DECLARE)
std::vector<Schedule> schedules() { return {STERNA_SCHEDULES(STERNA_CALL)}; }

std::vector<std::string_view> schedule_names() {
  const std::vector<Schedule> all = schedules();
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Schedule& schedule : all) names.push_back(schedule.name);
  return names;
}

Result<Schedule> find_schedule(std::string_view name) {
  for (const Schedule& schedule : schedules()) {
    if (schedule.name == name) return schedule;
  }
  return Error{Errc::invalid_argument,
               fmt::format("\"{}\" is none of {}", name, fmt::join(schedule_names(), ", "))};
}

LearningRate warmed_up(LearningRate rate, std::uint64_t steps) {
  return [rate = std::move(rate), steps](std::uint64_t step) {
    if (step >= steps) return rate(step);
    return rate(step) * static_cast<double>(step + 1) / static_cast<double>(steps);
  };
}

LearningRate scaled(LearningRate rate, double factor) {
  return [rate = std::move(rate), factor](std::uint64_t step) { return rate(step) * factor; };
}

}  // namespace sterna::kernels
