#include "launcher/plots/run_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "launcher/plots/run_file.h"
#include "launcher/record/read_metrics.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/text/whole_number.h"

namespace sterna::launcher {
namespace {

constexpr std::string_view kEvaluation = "evaluation";

/// Where a quantity stands in the metrics.
struct Quantity {
  const char* name;
  const char* label;
  std::string_view kind;  ///< of line
  const char* field;
};
constexpr std::array<Quantity, 9> kQuantities = {{
    {"precision_at_1", "precision@1", kEvaluation, "precision_at_1"},
    {"recall_at_5", "recall@5", kEvaluation, "recall_at_5"},
    {"evaluated_loss", "cross-entropy", kEvaluation, "loss"},
    {"loss", "training loss, weight decay included", "loss", "loss"},
    {"decay_loss", "weight decay's part of the training loss", "loss", "decay_loss"},
    {"learning_rate", "learning rate", "step", "learning_rate"},
    {"examples_per_second", "examples per second", "step", "examples_per_second"},
    {"nonzero", "trits that are not 0, of all", "step", "nonzero"},
    {"staleness", "mean staleness of gradients, in versions", "step", "staleness"},
}};
constexpr std::array<std::pair<const char*, const char*>, 5> kXs = {
    {{"steps", "steps"},
     {"seconds", "seconds"},
     {"bytes", "bytes that workers sent and received"},
     {"coded_bytes", "bytes of gradients and parameters, as they travelled"},
     {"examples", "examples that all workers trained with"}}};

/// What a run's lines say of the x of some steps.
using Known = std::map<std::int64_t, double>;

const Quantity& quantity(const std::string& name) {
  return *std::ranges::find_if(kQuantities, [&](const Quantity& one) { return one.name == name; });
}

/// Between the steps that are known, in proportion; before the first from 0 at the run's first.
double x_at(const Known& known, std::int64_t first_step, std::int64_t step) {
  const auto after = known.lower_bound(step);
  if (after != known.end() && after->first == step) return after->second;
  const std::pair<std::int64_t, double> origin{first_step, 0};
  const auto before =
      after == known.begin() ? origin : std::pair<std::int64_t, double>(*std::prev(after));
  if (after == known.end() || step <= before.first) return before.second;
  const double part =
      static_cast<double>(step - before.first) / static_cast<double>(after->first - before.first);
  return before.second + part * (after->second - before.second);
}

std::optional<double> x_of_step(const Json& line, const std::string& x) {
  if (x == "examples") return json_number_of(line, "examples");
  if (x == "seconds") return json_number_of(line, "seconds").value_or(0);
  const std::optional<double> up = json_number_of(line, (x + "_up").c_str());
  if (!up) return std::nullopt;  // an older run does not tell
  return *up + json_number_of(line, (x + "_down").c_str()).value_or(0);
}

class Reader {
 public:
  Reader(const Quantity& y, const PlotQuantities& what) : y_(y), what_(what) {}

  void read(const Json& line) {
    const std::string kind = json_text_of(line, "kind", "");
    const std::optional<double> at = json_number_of(line, "step");
    if (!at) return;
    if (!(*at >= 0 && *at <= static_cast<double>(kLastStep))) return;
    const auto step = static_cast<std::int64_t>(*at);
    if (kind == "restart") {  // what came after it is done again, and counted from 0
      for (auto& [of, points] : points_) {
        std::erase_if(points, [&](const RunPoint& point) { return point.step > step; });
      }
      known_.erase(known_.upper_bound(step), known_.end());
      offset_ = known_.empty() ? 0 : known_.rbegin()->second;
    }
    // Of a rank by itself it is the version that it computed from, else steps that are done.
    if (kind == "loss" && line.contains("rank")) {
      begins_ = std::min(begins_.value_or(step), step);
    } else if (kind == "step" || kind == "loss") {
      begins_ = begins_.value_or(std::max<std::int64_t>(step - 1, 0));
    }
    if (kind == "step") {
      if (const auto x = x_of_step(line, what_.x)) known_[step] = offset_ + *x;
    }
    if (kind != y_.kind) return;
    if (line.contains("rank")) {
      of_ranks_ = true;
      return;
    }
    RunPoint point{.step = step};
    std::string of;
    if (kind == kEvaluation) {
      of = json_text_of(line, "of", "parameters");
      if (json_text_of(line, "subset", "test") != what_.subset) return;
      if (what_.of != kOfEither && of != what_.of) return;
      point.examples = whole_number(json_number_of(line, "examples").value_or(0) +
                                        json_number_of(line, "left_out_examples").value_or(0),
                                    0, kLastStep);
    }
    const std::optional<double> y = json_number_of(line, y_.field);
    if (!y || !std::isfinite(*y)) return;
    point.y = *y;
    points_[of].push_back(point);
  }

  /// In the order of their steps, of each the last that was told, at their x.
  MeasuredRun take(bool resumes) {
    MeasuredRun run;
    if (resumes && begins_) run.first_step = *begins_;
    const auto of =
        std::ranges::find_if(points_, [](const auto& one) { return !one.second.empty(); });
    if (of == points_.end()) return run;
    run.of = of->first;  // "averages" comes before "parameters"
    run.points = std::move(of->second);
    std::ranges::stable_sort(run.points, {}, &RunPoint::step);
    const auto twice = std::unique(
        run.points.rbegin(), run.points.rend(),
        [](const RunPoint& one, const RunPoint& other) { return one.step == other.step; });
    run.points.erase(run.points.begin(), twice.base());
    for (RunPoint& point : run.points) {
      point.x = what_.x == "steps" ? static_cast<double>(point.step)
                                   : x_at(known_, run.first_step, point.step);
    }
    return run;
  }
  bool of_ranks() const { return of_ranks_; }
  bool knows_x() const { return !known_.empty(); }

 private:
  const Quantity& y_;
  const PlotQuantities& what_;
  std::map<std::string, RunPoints> points_;  ///< of averages, of parameters; of no evaluation: ""
  Known known_;
  std::optional<std::int64_t> begins_;  ///< behind which step it tells of steps
  bool of_ranks_ = false;               ///< there are lines of single ranks
  double offset_ = 0;                   ///< what the attempts before came to
};

}  // namespace

std::vector<std::string> plot_xs() {
  std::vector<std::string> names;
  names.reserve(std::size(kXs));
  for (const auto& [name, label] : kXs) names.emplace_back(name);
  return names;
}

std::vector<std::string> plot_ys() {
  std::vector<std::string> names;
  names.reserve(std::size(kQuantities));
  for (const Quantity& one : kQuantities) names.emplace_back(one.name);
  return names;
}

std::string x_label(const PlotQuantities& what) {
  return std::ranges::find_if(kXs, [&](const auto& x) { return x.first == what.x; })->second;
}

std::string x_text(const PlotQuantities& what, double x) {
  if (what.x == "seconds") return seconds_text(x);
  if (what.x.ends_with("bytes")) return bytes_text(static_cast<std::uint64_t>(std::max(x, 0.0)));
  return x == std::floor(x) ? thousands(whole_number(x, 0, kLastStep)) : fmt::format("{:.4g}", x);
}

std::string y_label(const PlotQuantities& what) { return quantity(what.y).label; }

Result<MeasuredRun> run_points(const std::string& run, const PlotQuantities& what) {
  const std::string path = run + "/metrics.jsonl";
  const Quantity& y = quantity(what.y);
  Reader reader(y, what);
  STERNA_TRY(for_each_metric(run, [&](const Json& line) -> Result<void> {
    reader.read(line);
    return {};
  }));
  MeasuredRun all = reader.take(read_run_file(run).resumes);
  if (all.points.empty() && reader.of_ranks()) {
    return Error{
        Errc::not_found,
        fmt::format("{}: its ranks step by themselves, and have no {} in common", path, what.y)};
  }
  if (all.points.empty()) {
    const std::string whose = what.of == kOfEither ? "" : fmt::format(" of {}", what.of);
    const std::string of = y.kind == kEvaluation ? fmt::format("{} on {}", whose, what.subset) : "";
    return Error{Errc::not_found, fmt::format("{}: has no {}{}", path, what.y, of)};
  }
  if ((what.x == "examples" || what.x == "coded_bytes") && !reader.knows_x()) {
    return Error{Errc::not_found,
                 fmt::format("{}: an older program's, which says no {}", path, what.x)};
  }
  return all;
}

}  // namespace sterna::launcher
