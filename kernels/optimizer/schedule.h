// Learning rates as a function of the global step, with the defaults and formulas of TernGrad's
// published trainer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/base/section.h"

namespace sterna::kernels {

/// What a schedule is stretched over.
struct Course {
  double initial = 0;          ///< the learning rate at step 0
  std::uint64_t steps = 1;     ///< of the whole job, > 0
  double steps_per_epoch = 1;  ///< counted where the schedule counts epochs
};

/// The learning rate of a step, the first is 0. Computed in double; the server rounds it to fp32
/// once and everyone uses that.
using LearningRate = std::function<double(std::uint64_t step)>;

/// One file of its own, which has the formula and the keys that the schedule brings, and a line in
/// schedule.cc.
struct Schedule {
  std::string_view name;
  LearningRate (*over)(const Course& course, const Numbers& values) = nullptr;
  std::span<const NumberKey> keys = {};
  bool counts_epochs = false;
};

/// The same rate, of which the first `steps` steps have 1/steps, 2/steps, ... (Goyal et al. 2017).
/// The schedule runs from step 0 on all the same.
LearningRate warmed_up(LearningRate rate, std::uint64_t steps);
/// The same rate times `factor`.
LearningRate scaled(LearningRate rate, double factor);

/// invalid_argument for a name that is none of theirs.
Result<Schedule> find_schedule(std::string_view name);
std::vector<Schedule> schedules();
std::vector<std::string_view> schedule_names();

}  // namespace sterna::kernels
