#include "launcher/plots/run_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "launcher/plots/run_file.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

struct OneRun {
  std::string path;
  std::string seed;
  MeasuredRun measured;
};

/// Runs that make one curve.
struct Group {
  std::map<std::string, std::string> keys;
  std::string of;               ///< parameters or averages
  std::int64_t first_step = 0;  ///< that x is counted from
  std::vector<OneRun> runs = {};

  bool makes_one_with(const Group& other) const {
    return keys == other.keys && of == other.of && first_step == other.first_step;
  }
};

/// At all steps at which both were measured: one may have been killed on the way, or been measured
/// less often.
bool same_numbers(const RunPoints& one, const RunPoints& other) {
  std::size_t same = 0;
  for (const RunPoint& point : one) {
    const auto found = std::ranges::lower_bound(other, point.step, {}, &RunPoint::step);
    if (found == other.end() || found->step != point.step) continue;
    if (found->y != point.y && found->examples == point.examples) return false;
    if (found->examples == point.examples) ++same;
  }
  return same > 0;
}

/// Of a run and its copy the one with more points counts.
void add(Group& group, OneRun run, std::vector<std::string>& words) {
  for (OneRun& known : group.runs) {
    if (known.seed != run.seed || !same_numbers(known.measured.points, run.measured.points)) {
      continue;
    }
    if (known.measured.points.size() < run.measured.points.size()) std::swap(known, run);
    words.push_back(valid_utf8(
        fmt::format("{} counts once: {} has its seed and its numbers", known.path, run.path)));
    return;
  }
  group.runs.push_back(std::move(run));
}

/// As many as runs where nobody knows.
std::size_t seeds_of(const Group& group) {
  std::set<std::string> seeds;
  for (const OneRun& run : group.runs) {
    seeds.insert(run.seed.empty() ? "of " + run.path : run.seed);
  }
  return seeds.size();
}

/// By what the groups differ, as far as that is short, and what else is to know of each.
std::vector<std::string> labels_of(const std::vector<Group>& groups) {
  std::vector<std::map<std::string, std::string>> files;
  files.reserve(groups.size());
  for (const Group& group : groups) files.push_back(group.keys);
  std::vector<std::string> labels = differences(files);
  const bool of_both = std::ranges::any_of(
      groups, [&](const Group& group) { return group.of != groups.front().of; });
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    std::string& label = labels[g];
    if (label.empty()) label = directory_name(group.runs.front().path);
    if (of_both) label += ", of " + group.of;
    if (group.first_step > 0) {
      label += fmt::format(", counted from step {} on", thousands(group.first_step));
    }
    label = valid_utf8(label);  // paths may be anything
  }
  return labels;
}

/// What its marks are.
std::string note_of(const Plot& plot) {
  std::set<std::int64_t> lines, marks;
  for (const PlotCurve& curve : plot.curves) {
    if (!curve.marks.empty()) lines.insert(curve.examples);
    for (const PlotMark& mark : curve.marks) marks.insert(mark.examples);
  }
  if (marks.empty()) return {};
  if (lines.size() > 1 || marks.size() > 1) return "measured on other examples than the line";
  return fmt::format("measured on {} examples, the line on {}", thousands(*marks.begin()),
                     thousands(*lines.begin()));
}

}  // namespace

std::vector<std::string> each_once(const std::vector<std::string>& runs) {
  std::vector<std::string> once;
  std::set<fs::path> known;
  for (const std::string& run : runs) {
    std::error_code failed;
    const fs::path path = fs::canonical(run, failed);
    if (known.insert(failed ? fs::path(run) : path).second) once.push_back(run);
  }
  return once;
}

std::vector<std::string> runs_among(const std::vector<std::string>& paths,
                                    const LeftOut& left_out) {
  std::vector<std::string> runs;
  std::vector<std::string> others;
  for (const std::string& path : each_once(paths)) {
    std::error_code ignored;
    const bool other =
        fs::exists(path, ignored) && !fs::exists(fs::path(path) / "metrics.jsonl", ignored);
    (other ? others : runs).push_back(path);
  }
  if (runs.empty() || others.empty()) return each_once(paths);
  const std::string more = others.size() > 1 ? fmt::format(" and {} more", others.size() - 1) : "";
  left_out(fmt::format("{}{}: no metrics.jsonl is there", others.front(), more));
  return runs;
}

Result<Plot> plot_of_runs(const std::vector<std::string>& runs, const PlotQuantities& what,
                          const LeftOut& left_out) {
  Plot plot{.x_label = x_label(what), .y_label = y_label(what)};
  std::vector<Group> groups;
  std::optional<Error> none;
  for (const std::string& path : each_once(runs)) {
    Result<MeasuredRun> run = run_points(path, what);
    std::error_code ignored;
    const bool without = !run && run.error().code == Errc::not_found &&
                         fs::exists(fs::path(path) / "metrics.jsonl", ignored);
    if (!run && !(left_out && without)) return run.error();
    if (!run) {
      left_out(run.error().message);
      none = run.error();
      continue;
    }
    RunFile file = read_run_file(path);
    const bool counts = what.x != "steps";
    Group group{std::move(file.keys), run->of, counts ? run->first_step : 0};
    auto known =
        std::ranges::find_if(groups, [&](const Group& one) { return one.makes_one_with(group); });
    if (known == groups.end()) known = groups.insert(groups.end(), std::move(group));
    add(*known, {path, file.seed, *std::move(run)}, plot.words);
  }
  if (groups.empty() && none) return *none;
  const std::vector<std::string> labels = labels_of(groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<RunPoints> points;
    for (const OneRun& run : groups[g].runs) points.push_back(run.measured.points);
    PlotCurve curve = mean_curve(points);
    curve.label = labels[g];
    if (points.size() > 1) {
      curve.label += fmt::format(" ({})", runs_text(points, seeds_of(groups[g])));
    }
    plot.curves.push_back(std::move(curve));
  }
  if (plot.curves.size() > kDistinctCurves) {
    plot.words.push_back(fmt::format("{} curves: beyond {} the colors and dashes repeat",
                                     plot.curves.size(), kDistinctCurves));
  }
  plot.note = note_of(plot);
  return plot;
}

}  // namespace sterna::launcher
