#include "launcher/plots/run_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "launcher/record/read_metrics.h"
#include "launcher/text/json_line.h"
#include "launcher/text/text_format.h"
#include "launcher/text/whole_number.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// Where a quantity stands in the metrics.
struct Quantity {
  const char* name;
  const char* label;
  const char* kind;  ///< of line
  const char* field;
};
constexpr std::array<Quantity, 8> kQuantities = {{
    {"precision_at_1", "precision@1", "evaluation", "precision_at_1"},
    {"recall_at_5", "recall@5", "evaluation", "recall_at_5"},
    {"evaluated_loss", "cross-entropy", "evaluation", "loss"},
    {"loss", "training loss, weight decay included", "loss", "loss"},
    {"decay_loss", "weight decay's part of the training loss", "loss", "decay_loss"},
    {"learning_rate", "learning rate", "step", "learning_rate"},
    {"examples_per_second", "examples per second", "step", "examples_per_second"},
    {"nonzero", "trits that are not 0, of all", "step", "nonzero"},
}};
constexpr std::array<std::pair<const char*, const char*>, 3> kXs = {
    {{"steps", "steps"},
     {"seconds", "seconds"},
     {"bytes", "bytes that workers sent and received"}}};

/// What a run's lines say of the x of some steps.
using Known = std::map<std::int64_t, double>;

struct Read {
  RunPoints points;
  Known known;
  bool of_ranks = false;  ///< there are lines of single ranks
};

/// Between the steps that are known, in proportion; before the first from 0.
double x_at(const Known& known, std::int64_t step) {
  const auto after = known.lower_bound(step);
  if (after != known.end() && after->first == step) return after->second;
  const std::pair<std::int64_t, double> origin{0, 0};
  const auto before =
      after == known.begin() ? origin : std::pair<std::int64_t, double>(*std::prev(after));
  if (after == known.end()) return before.second;
  const double part =
      static_cast<double>(step - before.first) / static_cast<double>(after->first - before.first);
  return before.second + part * (after->second - before.second);
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
      std::erase_if(all_.points, [&](const RunPoint& point) { return point.step > step; });
      all_.known.erase(all_.known.upper_bound(step), all_.known.end());
      offset_ = all_.known.empty() ? 0 : all_.known.rbegin()->second;
    }
    if (kind == "step") {
      const double bytes = json_number_of(line, "bytes_up").value_or(0) +
                           json_number_of(line, "bytes_down").value_or(0);
      all_.known[step] =
          offset_ + (what_.x == "bytes" ? bytes : json_number_of(line, "seconds").value_or(0));
    }
    if (kind != y_.kind) return;
    if (line.contains("rank")) {
      all_.of_ranks = true;
      return;
    }
    const bool evaluation = kind == "evaluation";
    if (evaluation && (json_text_of(line, "subset", "test") != what_.subset ||
                       json_text_of(line, "of", "parameters") != what_.of)) {
      return;
    }
    const std::optional<double> y = json_number_of(line, y_.field);
    if (y && std::isfinite(*y)) all_.points.push_back({.step = step, .x = 0, .y = *y});
  }

  Read take() { return std::move(all_); }

 private:
  const Quantity& y_;
  const PlotQuantities& what_;
  Read all_;
  double offset_ = 0;  ///< what the attempts before came to
};

/// Keys of a resolved file, "gradient.codec", and their values as they stand there.
std::map<std::string, std::string> keys_of(const std::string& run) {
  std::map<std::string, std::string> keys;
  std::ifstream in(run + "/resolved.toml");
  std::string section;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('[')) {
      const std::size_t begin = std::min(line.find_first_not_of('['), line.size());
      section = line.substr(begin, line.find(']') - begin);
    }
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos) continue;
    std::string& value = keys[section + "." + line.substr(0, equals)];
    value += (value.empty() ? "" : "; ") + line.substr(equals + 3);  // of tables in a list
  }
  // These say nothing of how the run trained.
  std::erase_if(keys, [](const auto& one) {
    for (const char* other :
         {"job.seed", "data.dir", "checkpoint.", "deadlines.", "log.", "metrics.", "summary."}) {
      if (one.first.starts_with(other)) return true;
    }
    return false;
  });
  return keys;
}

struct Group {
  std::map<std::string, std::string> keys;
  std::vector<std::string> runs;
};

std::vector<Group> grouped(const std::vector<std::string>& runs) {
  std::vector<Group> groups;
  for (const std::string& run : runs) {
    auto keys = keys_of(run);
    auto known = std::ranges::find(groups, keys, &Group::keys);
    if (known == groups.end()) known = groups.insert(groups.end(), Group{std::move(keys), {}});
    known->runs.push_back(run);
  }
  return groups;
}

/// "batch" of "job.batch", "scheme" of "scheme.name"; whole where another's is called the same.
std::string shown_key(const std::string& key, const std::vector<std::string>& all) {
  const auto brief = [](const std::string& one) {
    const std::size_t dot = std::min(one.rfind('.'), one.size());
    const std::string last = dot == one.size() ? one : one.substr(dot + 1);
    return last == "name" && dot > 0 ? one.substr(0, dot) : last;
  };
  const auto same = std::ranges::count_if(
      all, [&](const std::string& other) { return brief(other) == brief(key); });
  return same > 1 ? key : brief(key);
}

/// What it is called, however it was named: "runs/a/", ".".
std::string folder_name(const std::string& run) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(run, failed);
  const fs::path path = (failed ? fs::path(run) : absolute).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

/// By what the groups differ, as far as that is short.
std::vector<std::string> labels_of(const std::vector<Group>& groups) {
  std::set<std::string> all;
  for (const Group& group : groups) {
    for (const auto& [key, value] : group.keys) all.insert(key);
  }
  std::vector<std::string> differing;
  const auto value_of = [](const Group& group, const std::string& key) {
    const auto found = group.keys.find(key);
    return found == group.keys.end() ? std::string("none") : found->second;
  };
  for (const std::string& key : all) {
    const bool same = std::ranges::all_of(groups, [&](const Group& group) {
      return value_of(group, key) == value_of(groups.front(), key);
    });
    if (!same && key != "cluster.name") differing.push_back(key);
  }
  constexpr std::size_t kMostKeys = 3;
  std::vector<std::string> labels;
  for (const Group& group : groups) {
    std::string label;
    for (const std::string& key : differing) {
      std::string value = value_of(group, key);
      std::erase(value, '"');
      label += fmt::format("{}{} {}", label.empty() ? "" : ", ", shown_key(key, differing), value);
    }
    if (differing.empty() || differing.size() > kMostKeys) {
      label = folder_name(group.runs.front());
    }
    labels.push_back(valid_utf8(label));  // paths may be anything
  }
  return labels;
}

const Quantity& quantity(const std::string& name) {
  return *std::ranges::find_if(kQuantities, [&](const Quantity& one) { return one.name == name; });
}

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

Result<RunPoints> run_points(const std::string& run, const PlotQuantities& what) {
  const std::string path = run + "/metrics.jsonl";
  const Quantity& y = quantity(what.y);
  Reader reader(y, what);
  STERNA_TRY(for_each_metric(run, [&](const Json& line) -> Result<void> {
    reader.read(line);
    return {};
  }));
  Read all = reader.take();
  if (all.points.empty() && all.of_ranks) {
    return Error{
        Errc::not_found,
        fmt::format("{}: its ranks step by themselves, and have no {} in common", path, what.y)};
  }
  if (all.points.empty()) {
    const bool evaluation = std::string_view(y.kind) == "evaluation";
    const std::string of = evaluation ? fmt::format(" of {} on {}", what.of, what.subset) : "";
    return Error{Errc::not_found, fmt::format("{}: has no {}{}", path, what.y, of)};
  }
  std::ranges::stable_sort(all.points, {}, &RunPoint::step);
  // Of a step that is there twice the later one counts.
  const auto twice = std::unique(
      all.points.rbegin(), all.points.rend(),
      [](const RunPoint& one, const RunPoint& other) { return one.step == other.step; });
  all.points.erase(all.points.begin(), twice.base());
  for (RunPoint& point : all.points) {
    point.x = what.x == "steps" ? static_cast<double>(point.step) : x_at(all.known, point.step);
  }
  return all.points;
}

Result<Plot> plot_of_runs(const std::vector<std::string>& runs, const PlotQuantities& what,
                          const std::function<void(const std::string&)>& left_out) {
  std::map<std::string, RunPoints> points_of;
  std::vector<std::string> with_points;
  std::optional<Error> none;
  for (const std::string& run : each_once(runs)) {
    Result<RunPoints> points = run_points(run, what);
    std::error_code ignored;
    const bool without = !points && points.error().code == Errc::not_found &&
                         fs::exists(fs::path(run) / "metrics.jsonl", ignored);
    if (!points && !(left_out && without)) return points.error();
    if (points) {
      points_of[run] = *std::move(points);
      with_points.push_back(run);
    } else {
      left_out(points.error().message);
      none = points.error();
    }
  }
  if (with_points.empty() && none) return *none;
  const std::vector<Group> groups = grouped(with_points);
  const std::vector<std::string> labels = labels_of(groups);
  Plot plot{.x_label =
                std::ranges::find_if(kXs, [&](const auto& x) { return x.first == what.x; })->second,
            .y_label = quantity(what.y).label};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<RunPoints> points;
    for (const std::string& run : groups[g].runs) points.push_back(points_of.at(run));
    PlotCurve curve = mean_curve(points);
    curve.label = labels[g];
    if (points.size() > 1) curve.label += fmt::format(" ({})", runs_text(points));
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

}  // namespace sterna::launcher
