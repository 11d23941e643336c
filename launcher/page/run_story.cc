#include "launcher/page/run_story.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "launcher/record/read_metrics.h"
#include "launcher/text/whole_number.h"

namespace sterna::launcher {
namespace {

constexpr std::size_t kRecentLines = 4096;
constexpr std::array<const char*, 7> kStepFields = {
    "learning_rate", "examples_per_second", "bits_up",  "bits_down",
    "nonzero",       "saturated",           "data_wait"};
constexpr std::array<const char*, 4> kEvaluationFields = {"precision_at_1", "recall_at_5", "loss",
                                                          "examples"};

/// A picture has no more digits, and the page is smaller.
Json rounded(std::optional<double> value) {
  constexpr double kDigits = 6;
  if (!value || !std::isfinite(*value)) return nullptr;
  if (*value == 0 || *value == std::round(*value)) return *value;
  const double unit = std::pow(10, kDigits - 1 - std::floor(std::log10(std::abs(*value))));
  return std::round(*value * unit) / unit;
}

Json told(const LossPoint& point) {
  return {point.step, rounded(point.low), rounded(point.mean()), rounded(point.high),
          rounded(point.mean_decay())};
}

}  // namespace

void RunStory::take(const Json& line) {
  const std::string kind = json_text_of(line, "kind", "");
  if (kind == "tensor" && tensors_.size() < kMostTensors) tensors_.push_back(kept_tensor(line));
  if (kind == "lost") lost_ += json_number_of(line, "lines").value_or(0);
  const std::optional<double> given = json_number_of(line, "step");
  if (!given || !(*given >= 0 && *given <= static_cast<double>(kLastStep))) return;
  const auto step = static_cast<std::int64_t>(*given);
  note_begin(step, kind, line);
  if (kind == "loss") {
    const auto loss = json_number_of(line, "loss");
    if (loss) losses_.add(step, *loss, json_number_of(line, "decay_loss").value_or(0));
  }
  if (kind == "step") take_step(step, line);
  if (kind == "evaluation") take_evaluation(step, line);
  if (kind == "restart") restart(step);
}

void RunStory::note_begin(std::int64_t step, const std::string& kind, const Json& line) {
  if (kind == "loss" && line.contains("rank")) {  // of the version that it computed from
    begins_ = std::min(begins_.value_or(step), step);
  } else if (kind == "step" || kind == "loss") {
    begins_ = begins_.value_or(std::max<std::int64_t>(step - 1, 0));
  }
}

void RunStory::take_step(std::int64_t step, const Json& line) {
  Step one{step, seconds_before_ + json_number_of(line, "seconds").value_or(0),
           bytes_before_ + json_number_of(line, "bytes_up").value_or(0) +
               json_number_of(line, "bytes_down").value_or(0),
           Json::array()};
  for (const char* field : kStepFields) one.facts.push_back(rounded(json_number_of(line, field)));
  recent_.push_back(one);
  if (recent_.size() > kRecentLines) recent_.pop_front();
  if (!steps_.empty() && ++since_ < stride_) return;
  since_ = 0;
  untold_.push_back(one);
  steps_.push_back(std::move(one));
  if (steps_.size() < kMostSteps) return;
  for (std::size_t i = 0; 2 * i < steps_.size(); ++i) steps_[i] = std::move(steps_[2 * i]);
  steps_.resize((steps_.size() + 1) / 2);
  stride_ *= 2;
}

void RunStory::take_evaluation(std::int64_t step, const Json& line) {
  const std::string subset = json_kept_text(line, "subset", "test");
  const std::string of = json_kept_text(line, "of", "parameters");
  Evaluation one{.step = step, .whose = subset + "\n" + of, .number = 0, .facts = {}};
  one.facts["subset"] = subset;
  one.facts["of"] = of;
  for (const char* field : kEvaluationFields)
    one.facts[field] = rounded(json_number_of(line, field));
  const auto before =
      std::ranges::find(evaluations_.rbegin(), evaluations_.rend(), one.whose, &Evaluation::whose);
  if (before != evaluations_.rend()) {
    one.number = before->number + 1;
    if (before->number % evaluation_stride_ != 0) {  // it was there as the last
      drop_evaluation(static_cast<std::size_t>(evaluations_.rend() - before) - 1);
    }
  }
  evaluations_.push_back(std::move(one));
  if (evaluations_.size() > kMostEvaluations) thin_evaluations();
}

void RunStory::drop_evaluation(std::size_t index) {
  evaluations_.erase(evaluations_.begin() + static_cast<std::ptrdiff_t>(index));
  if (index < evaluations_told_) --evaluations_told_;
}

void RunStory::thin_evaluations() {
  constexpr std::size_t kLargestStride = std::size_t{1} << 40;
  evaluation_stride_ = std::min(2 * evaluation_stride_, kLargestStride);
  std::set<std::string> seen;
  std::vector<Evaluation> kept;  // the newest first
  for (auto one = evaluations_.rbegin(); one != evaluations_.rend(); ++one) {
    const bool last = seen.insert(one->whose).second;
    if (last || one->number % evaluation_stride_ == 0) kept.push_back(std::move(*one));
  }
  // No run has so many subsets and kinds that most of its evaluations are the last of theirs.
  if (kept.size() > kMostEvaluations / 4 * 3) kept.resize(kMostEvaluations / 2);
  evaluations_.assign(std::move_iterator(kept.rbegin()), std::move_iterator(kept.rend()));
  evaluations_told_ = std::min(evaluations_told_, evaluations_.size());
  anew_ = true;
}

void RunStory::restart(std::int64_t step) {
  const auto later = [step](const auto& one) { return one.step > step; };
  std::erase_if(steps_, later);
  std::erase_if(recent_, later);
  std::erase_if(untold_, later);
  std::erase_if(evaluations_, later);
  evaluations_told_ = std::min(evaluations_told_, evaluations_.size());
  losses_.drop_after(step);
  tensors_.clear();
  tensors_told_ = 0;
  seconds_before_ = at(step, &Step::seconds);
  bytes_before_ = at(step, &Step::bytes);
  anew_ = true;
}

double RunStory::at(std::int64_t step, double Step::*what) const {
  const auto in = [&](const auto& known) {
    const auto after = std::ranges::lower_bound(known, step, {}, &Step::step);
    Step origin;
    origin.step = std::min(begins_.value_or(0), step);
    const Step& before = after == known.begin() ? origin : *std::prev(after);
    if (after == known.end()) return before.*what;
    if (after->step == step) return (*after).*what;
    if (before.step == step) return before.*what;
    const double part =
        static_cast<double>(step - before.step) / static_cast<double>(after->step - before.step);
    return before.*what + part * ((*after).*what - before.*what);
  };
  return recent_.empty() || step < recent_.front().step ? in(steps_) : in(recent_);
}

Json RunStory::told(const Step& step) const {
  Json line = {step.step, rounded(step.seconds), step.bytes};
  line.insert(line.end(), step.facts.begin(), step.facts.end());
  return line;
}

Json RunStory::told(const Evaluation& one) const {
  Json line = {{"step", one.step},
               {"seconds", rounded(at(one.step, &Step::seconds))},
               {"bytes", std::round(at(one.step, &Step::bytes))}};
  line.update(one.facts);
  return line;
}

Json RunStory::all() const {
  Json json = {{"loss", Json::array()}, {"steps", Json::array()}, {"evaluations", Json::array()},
               {"tensors", tensors_},   {"lost", lost_},          {"begins", begins_.value_or(0)}};
  for (const LossPoint& point : losses_.points()) {
    json["loss"].push_back(launcher::told(point));
  }
  for (const Step& step : steps_) json["steps"].push_back(told(step));
  if (!recent_.empty() && (steps_.empty() || steps_.back().step < recent_.back().step)) {
    json["steps"].push_back(told(recent_.back()));
  }
  for (const Evaluation& one : evaluations_) json["evaluations"].push_back(told(one));
  return json;
}

std::optional<Json> RunStory::news() {
  Json json = Json::object();
  for (const LossPoint& point : losses_.news()) json["loss"].push_back(launcher::told(point));
  for (const Step& step : std::exchange(untold_, {})) json["steps"].push_back(told(step));
  for (; evaluations_told_ < evaluations_.size(); ++evaluations_told_) {
    json["evaluations"].push_back(told(evaluations_[evaluations_told_]));
  }
  for (; tensors_told_ < tensors_.size(); ++tensors_told_) {
    json["tensors"].push_back(tensors_[tensors_told_]);
  }
  if (std::exchange(lost_told_, lost_) != lost_) json["lost"] = lost_;
  const std::int64_t begins = begins_.value_or(0);
  if (std::exchange(begins_told_, begins) != begins) json["begins"] = begins;
  if (json.empty()) return std::nullopt;
  return json;
}

bool RunStory::begins_anew() { return std::exchange(anew_, false); }

}  // namespace sterna::launcher
