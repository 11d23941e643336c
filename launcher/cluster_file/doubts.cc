// What a cluster file says that changes nothing, or not as its author thinks. None of it is wrong:
// two runs that are compared often differ by a word on the command line, and the rest of the file
// is of the other one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "actors/codecs/codec.h"
#include "kernels/optimizer/schedule.h"
#include "launcher/cluster_file/cluster_file.h"
#include "nets/describe_net.h"

namespace sterna::launcher {
namespace {

using Lines = std::vector<std::string>;

/// Where servers add what ranks have come to.
void doubt_what_is_added(const ClusterFile& file, Lines& lines) {
  constexpr std::array<std::string_view, 3> kActs{"weight_decay", "decay_at", "average_decay"};
  const actors::OptimizerSection defaults;
  std::vector<std::string> unused;
  const Section<actors::OptimizerSection> section = actors::optimizer_section();
  for (const Key<actors::OptimizerSection>& key : section.keys) {
    if (std::ranges::find(kActs, key.name) != kActs.end()) continue;
    if (toml_text(key, file.optimizer) == toml_text(key, defaults)) continue;
    unused.push_back(fmt::format("optimizer.{}", key.name));
  }
  if (unused.empty()) return;
  lines.push_back(fmt::format(
      "{} {} nothing where scheme.name is \"{}\": ranks step by "
      "[local_optimizer], and servers add what they come to",
      fmt::join(unused, ", "), unused.size() == 1 ? "changes" : "change", file.scheme.name));
}

void doubt_optimizer(const ClusterFile& file, Lines& lines) {
  const actors::OptimizerSection& chosen = file.optimizer;
  // Of epochs the steps are not known yet.
  if (file.job.epochs == 0 && chosen.warm_up > file.job.steps) {
    lines.push_back(
        fmt::format("optimizer.warm_up = {} is more than job.steps = {}: the learning "
                    "rate never grows to optimizer.learning_rate",
                    chosen.warm_up, file.job.steps));
  }
  const actors::OptimizerSection defaults;
  const auto schedule = kernels::find_schedule(chosen.schedule);
  const auto is_its = [&](std::string_view name) {
    return schedule && std::ranges::count(schedule->keys, name, &NumberKey::name) > 0;
  };
  std::vector<std::string> unused;
  for (const kernels::Schedule& other : kernels::schedules()) {
    for (const NumberKey& key : other.keys) {
      const std::string name = fmt::format("optimizer.{}", key.name);
      if (is_its(key.name) || std::ranges::count(unused, name) > 0) continue;
      if (chosen.numbers.at(key.name) != defaults.numbers.at(key.name)) unused.push_back(name);
    }
  }
  if (unused.empty()) return;
  lines.push_back(fmt::format("{} {} nothing where optimizer.schedule is \"{}\"",
                              fmt::join(unused, ", "), unused.size() == 1 ? "changes" : "change",
                              chosen.schedule));
}

void doubt_gradient(const ClusterFile& file, Lines& lines) {
  const actors::GradientSection& chosen = file.gradient;
  const actors::GradientSection defaults;
  if (chosen.codec != "none" || !chosen.tensors.empty()) return;
  std::vector<std::string_view> unused;
  if (chosen.clip != defaults.clip) unused.emplace_back("gradient.clip");
  if (chosen.scaler != defaults.scaler) unused.emplace_back("gradient.scaler");
  if (chosen.buckets) unused.emplace_back("gradient.buckets");
  if (chosen.error_feedback) unused.emplace_back("gradient.error_feedback");
  if (unused.empty()) return;
  lines.push_back(fmt::format("{} {} nothing where gradient.codec is \"none\"",
                              fmt::join(unused, ", "), unused.size() == 1 ? "changes" : "change"));
}

void doubt_net(const ClusterFile& file, Lines& lines) {
  const nets::ZooNet* net = nets::find_net(file.job.net);
  if (net == nullptr || file.net_choices.keep == actors::NetSection().keep) return;
  // Whether it has dropout does not depend on the images.
  const auto what = nets::describe_net(
      {.name = file.job.net, .images = net->usual, .hidden = file.job.hidden, .batch = 1});
  if (!what || what->dropouts > 0) return;
  lines.push_back(fmt::format("net.keep changes nothing: {} drops no units", file.job.net));
}

void doubt_what_is_kept(const ClusterFile& file, Lines& lines) {
  const actors::CheckpointSection& chosen = file.checkpoint;
  if (!chosen.on() && (chosen.best || chosen.keep != actors::CheckpointSection().keep)) {
    lines.push_back(fmt::format(
        "checkpoint.{} keeps nothing: no checkpoint is made without checkpoint.every_steps or "
        "checkpoint.every_seconds",
        chosen.best ? "best" : "keep"));
  }
  if (!file.summary.tensorboard && file.summary.every != actors::SummarySection().every) {
    lines.emplace_back("summary.every writes nothing where summary.tensorboard is false");
  }
}

}  // namespace

std::vector<std::string> doubtful_lines(const ClusterFile& file) {
  Lines lines;
  if (!file.trains()) return lines;
  const actors::SchemeFacts* const facts = actors::find_scheme_facts(file.scheme.name);
  if (facts != nullptr && facts->differences) {
    doubt_what_is_added(file, lines);
  } else {
    doubt_optimizer(file, lines);
  }
  doubt_gradient(file, lines);
  doubt_net(file, lines);
  doubt_what_is_kept(file, lines);
  return lines;
}

}  // namespace sterna::launcher
