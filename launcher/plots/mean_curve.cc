#include "launcher/plots/mean_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

/// Of some numbers, as they come (Welford, 1962).
class Mean {
 public:
  void add(double value) {
    ++count_;
    const double off = value - mean_;
    mean_ += off / static_cast<double>(count_);
    squares_ += off * (value - mean_);
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  std::size_t count() const { return count_; }
  double value() const { return mean_; }
  double low() const { return low_; }
  double high() const { return high_; }
  double deviation() const {
    return count_ > 1 ? std::sqrt(squares_ / static_cast<double>(count_ - 1)) : 0;
  }

 private:
  std::size_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

bool has_come_to(const RunPoints& run, std::int64_t step) {
  return run.front().step <= step && step <= run.back().step;
}

/// Nothing before its first point and behind its last.
std::optional<RunPoint> point_at(const RunPoints& run, std::int64_t step) {
  if (!has_come_to(run, step)) return std::nullopt;
  const auto after = std::ranges::lower_bound(run, step, {}, &RunPoint::step);
  if (after->step == step) return *after;
  const RunPoint& before = *std::prev(after);
  const double part =
      static_cast<double>(step - before.step) / static_cast<double>(after->step - before.step);
  return RunPoint{.step = step,
                  .x = std::lerp(before.x, after->x, part),
                  .y = std::lerp(before.y, after->y, part)};
}

std::vector<std::int64_t> all_steps(const std::vector<RunPoints>& runs) {
  std::vector<std::int64_t> steps;
  for (const RunPoints& run : runs) {
    std::ranges::transform(run, std::back_inserter(steps), &RunPoint::step);
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

/// Without those that few runs lack: losses leap from step to step, and what lies in between makes
/// a band of runs that were alike.
std::vector<std::int64_t> steps_of(const std::vector<RunPoints>& runs) {
  std::vector<std::int64_t> steps = all_steps(runs);
  std::vector<std::int64_t> lacking;
  std::size_t shared = 0;
  for (const std::int64_t step : steps) {
    std::size_t come = 0;
    std::size_t have = 0;
    for (const RunPoints& run : runs) {
      if (has_come_to(run, step)) ++come;
      if (std::ranges::binary_search(run, step, {}, &RunPoint::step)) ++have;
    }
    if (come > 1) ++shared;
    if (have < come) lacking.push_back(step);
  }
  if (2 * lacking.size() > shared) return steps;
  std::vector<std::int64_t> whole;
  std::ranges::set_difference(steps, lacking, std::back_inserter(whole));
  return whole;
}

std::int64_t last_step(const std::vector<RunPoints>& runs) {
  std::int64_t last = 0;
  for (const RunPoints& run : runs) last = std::max(last, run.back().step);
  return last;
}

/// What most points were measured on.
std::int64_t usual_examples(const std::vector<RunPoints>& runs) {
  std::map<std::int64_t, std::size_t> counts;
  for (const RunPoints& run : runs) {
    for (const RunPoint& point : run) ++counts[point.examples];
  }
  return std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
}

std::vector<PlotMark> marks_of(const std::vector<RunPoints>& runs, std::int64_t usual) {
  struct At {
    Mean x, y;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, At> marks;  // by step and examples
  for (const RunPoints& run : runs) {
    for (const RunPoint& point : run) {
      if (point.examples == usual) continue;
      At& at = marks[{point.step, point.examples}];
      at.x.add(point.x);
      at.y.add(point.y);
    }
  }
  std::vector<PlotMark> all;
  all.reserve(marks.size());
  for (const auto& [key, at] : marks) {
    all.push_back({.x = at.x.value(),
                   .mean = at.y.value(),
                   .low = at.y.low(),
                   .high = at.y.high(),
                   .runs = at.y.count(),
                   .deviation = at.y.deviation(),
                   .examples = key.second});
  }
  return all;
}

}  // namespace

PlotCurve mean_curve(const std::vector<RunPoints>& all) {
  PlotCurve curve;
  curve.examples = usual_examples(all);
  curve.marks = marks_of(all, curve.examples);
  std::vector<RunPoints> runs = all;
  for (RunPoints& run : runs) {
    std::erase_if(run, [&](const RunPoint& one) { return one.examples != curve.examples; });
  }
  std::erase_if(runs, [](const RunPoints& run) { return run.empty(); });
  const std::int64_t last = last_step(runs);
  for (const std::int64_t step : steps_of(runs)) {
    Mean x, x_of_last, y;
    for (const RunPoints& run : runs) {
      const std::optional<RunPoint> point = point_at(run, step);
      if (!point) continue;
      x.add(point->x);
      if (run.back().step == last) x_of_last.add(point->x);
      y.add(point->y);
    }
    const double at = x_of_last.count() > 0 ? x_of_last.value() : x.value();
    if (all.size() > 1) {
      // One that goes on from another's checkpoint counts its seconds and bytes from 0.
      if (!curve.x.empty() && at < curve.x.back()) curve.gaps.push_back(curve.x.size());
      curve.low.push_back(y.low());
      curve.high.push_back(y.high());
      curve.runs.push_back(y.count());
      curve.deviation.push_back(y.deviation());
    }
    curve.x.push_back(at);
    curve.mean.push_back(y.value());
  }
  return curve;
}

std::string runs_text(const std::vector<RunPoints>& runs, std::size_t seeds) {
  const std::int64_t last = last_step(runs);
  const auto to_end =
      std::ranges::count_if(runs, [&](const RunPoints& run) { return run.back().step == last; });
  std::string text = counted(runs.size(), "run");
  if (seeds < runs.size()) text += " of " + counted(seeds, "seed");
  if (static_cast<std::size_t>(to_end) == runs.size()) return text;
  return fmt::format("{}, {} of them to the end", text, to_end);
}

}  // namespace sterna::launcher
