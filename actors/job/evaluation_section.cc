// [evaluator]: its keys, and what they say together.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/job/sections.h"

namespace sterna::actors {

Section<EvaluationSection> evaluation_section() {
  using S = EvaluationSection;
  return {
      "evaluator",
      false,
      "precision@1, recall@5 and loss while training goes on; the end is always evaluated, on all "
      "test examples",
      {key("every", &S::every, "steps between evaluations; 0: only at the end").at_least(0),
       key("every_seconds", &S::every_seconds,
           "in place of every: at least so many seconds between evaluations, which then never stop "
           "training; 0: by steps")
           .at_least(0)
           .at_most(kMostSecondsBetween),
       enum_key<&S::behind>("behind", {"wait", "skip"},
                            "where evaluations take longer than the steps between them: training "
                            "waits from the fifth version on that is to be evaluated, or those "
                            "that are too many are not evaluated"),
       enum_key<&S::of>("of", {"averages", "parameters", "both"},
                        "what is evaluated: moving averages of the parameters, where the job keeps "
                        "any; or the parameters as they are; or both, one after the other"),
       key("subsets", &S::subsets,
           "of which examples: \"test\", \"train\" (without augmentation: where a net does better "
           "on these, it overfits)"),
       key("examples", &S::examples, "test examples used while training goes on").at_least(1),
       key("train_examples", &S::train_examples, "training examples used, at the end, too")
           .at_least(1),
       key("batch", &S::batch, "examples per forward pass").at_least(1).at_most(65536)}};
}

std::optional<Mismatch> mismatch(const EvaluationSection& chosen,
                                 const OptimizerSection& optimizer) {
  const std::vector<std::string>& subsets = chosen.subsets;
  const auto wrong = [](std::string what) {
    return Mismatch{"evaluator.subsets", "\"evaluator.subsets\" " + std::move(what)};
  };
  if (subsets.empty()) return wrong("must name \"test\", \"train\" or both");
  for (const std::string& subset : subsets) {
    if (subset != kTestSubset && subset != kTrainSubset)
      return wrong(fmt::format("knows \"test\" and \"train\", not \"{}\"", subset));
    if (std::ranges::count(subsets, subset) > 1)
      return wrong(fmt::format("has \"{}\" twice", subset));
  }
  if (chosen.of == EvaluatedOf::both && optimizer.average_decay == 0) {
    return Mismatch{"evaluator.of",
                    "\"evaluator.of\" = \"both\" needs moving averages: set "
                    "\"optimizer.average_decay\", e.g. to 0.999"};
  }
  return std::nullopt;
}

const std::string& main_subset(const EvaluationSection& evaluation) {
  const auto test = std::ranges::find(evaluation.subsets, kTestSubset);
  return test != evaluation.subsets.end() ? *test : evaluation.subsets.front();
}

}  // namespace sterna::actors
