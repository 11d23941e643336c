#include "kernels/optimizer/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sterna::kernels {

// The schedules that there are, in the order of the keys that they bring.
#define STERNA_SCHEDULES(line) \
  line(fixed_schedule) line(exponential_schedule) line(polynomial_schedule)

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

}  // namespace sterna::kernels
