#include "actors/evaluator/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "input/files/sha256.h"

namespace sterna::actors {
namespace {

/// Counts of (label, answer).
class Confusion {
 public:
  explicit Confusion(std::size_t classes)
      : answers_(classes + 1), counts_(classes <= kMostConfusedClasses ? classes * answers_ : 0) {}
  void count(std::size_t label, std::size_t answer) {
    if (!counts_.empty()) ++counts_[label * answers_ + answer];
  }
  std::vector<ConfusionCell> cells() const {
    std::vector<ConfusionCell> cells;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      cells.push_back({static_cast<std::uint16_t>(i / answers_),
                       static_cast<std::uint16_t>(i % answers_), counts_[i]});
    }
    return cells;
  }

 private:
  std::size_t answers_;  // one of them is none
  std::vector<std::uint32_t> counts_;
};

}  // namespace

Answer answer_of(std::span<const float> logits, std::uint16_t label) {
  Answer answer{.chosen = logits.size()};
  if (!std::ranges::all_of(logits, [](float x) { return std::isfinite(x); })) return answer;
  const auto largest = std::ranges::max_element(logits);
  if (std::count(largest, logits.end(), *largest) == 1) {
    answer.chosen = static_cast<std::size_t>(largest - logits.begin());
  }
  const auto as_large = std::ranges::count_if(logits, [&](float x) { return x >= logits[label]; });
  answer.recalled = static_cast<std::size_t>(as_large) <= kRecalled;
  return answer;
}

Result<Evaluation> evaluate(nets::Net& net, const input::Source& source,
                            const input::Preparation& how, std::uint64_t examples) {
  const std::uint64_t count = source.facts().count;
  if (count == 0) return Error{Errc::invalid_argument, "no examples to evaluate"};
  const std::uint64_t wanted = std::clamp<std::uint64_t>(examples, 1, count);
  std::vector<std::uint64_t> indices;
  input::PreparedBatch batch(how, net.batch());
  std::vector<float> logits;
  std::vector<float> scratch;
  std::uint64_t correct = 0;
  std::uint64_t recalled = 0;
  Confusion confusion(net.classes());
  std::uint64_t whole = 0;
  double loss = 0;
  for (std::uint64_t done = 0; done < wanted; done += indices.size()) {
    indices.resize(std::min<std::uint64_t>(net.batch(), wanted - done));
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = (done + i) * count / wanted;
    STERNA_ASSIGN(const std::size_t prepared,
                  input::prepare_evaluation(source, indices, how, batch.rows(indices.size())));
    if (prepared == 0) continue;
    whole += prepared;
    const input::PreparedRows rows = batch.rows(prepared);
    logits.resize(prepared * net.classes());
    scratch.resize(logits.size());
    STERNA_TRY(net.infer(nets::PixelImages{rows.pixels, rows.levels}, prepared, logits));
    for (std::size_t i = 0; i < prepared; ++i) {
      const std::uint16_t label = rows.labels[i];
      const Answer answer =
          answer_of(std::span(logits).subspan(i * net.classes(), net.classes()), label);
      correct += answer.chosen == label ? 1 : 0;
      recalled += answer.recalled ? 1 : 0;
      confusion.count(label, answer.chosen);
    }
    loss +=
        static_cast<double>(net.loss(logits, rows.labels, scratch)) * static_cast<double>(prepared);
  }
  const std::string damage = whole < wanted ? how.bad->first() : "";
  if (whole == 0) {
    return Error{Errc::malformed, fmt::format("all {} examples to evaluate are damaged, such as {}",
                                              wanted, damage)};
  }
  const auto all = static_cast<double>(whole);
  return Evaluation{.examples = whole,
                    .left_out = wanted - whole,
                    .damage = damage,
                    .precision_at_1 = static_cast<double>(correct) / all,
                    .recall_at_5 = static_cast<double>(recalled) / all,
                    .loss = loss / all,
                    .confusion = confusion.cells()};
}

Result<std::span<const float>> values_on_host(nets::Net& net, std::size_t parameter,
                                              std::vector<float>& copy) {
  if (net.on_host()) return std::span<const float>(net.parameter(parameter));
  copy.resize(net.parameters()[parameter].count());
  STERNA_TRY(net.read_parameter(parameter, 0, copy));
  return std::span<const float>(copy);
}

Result<std::string> parameters_sha256(nets::Net& net) {
  input::Sha256 sum;
  std::vector<float> copy;
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    STERNA_ASSIGN(const std::span<const float> values, values_on_host(net, i, copy));
    sum.update(std::as_bytes(values));
  }
  return sum.hex();
}

}  // namespace sterna::actors
