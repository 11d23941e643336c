// One small job, as a cluster file, that is trained in many ways which must all end in the same
// bits: as a plain loop, on a virtual clock, and by real processes.
#pragma once

#include <string>

#include "input/digits/digits.h"

namespace sterna::test {

/// Two ranks, 30 steps.
inline const std::string kThirtySteps = R"(
format = 1

[[actor]]
role = "parameter_server"

[[actor]]
role = "worker"
count = 2

[[actor]]
role = "input_reader"

[[actor]]
role = "evaluator"

[job]
net = "lenet"
steps = 30
batch = 8
seed = 11

[optimizer]
learning_rate = 0.005
schedule = "polynomial"

[gradient]
min_size = 1

[evaluator]
every = 10
examples = 100
)";

/// Its data: drawn digits, of which there are few, for speed.
inline constexpr input::DigitsOptions kFewDigits{.seed = 1, .train = 2000, .test = 500};

/// The same with both ranks in one worker, which has what servers have elsewhere.
inline std::string without_servers() {
  std::string text = kThirtySteps;
  const auto replace = [&](const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
  };
  replace("[[actor]]\nrole = \"parameter_server\"\n\n", "");
  replace("count = 2", "ranks = 2");
  replace("[gradient]\n", "[gradient]\nexchange = \"nccl\"\n");
  return text;
}

}  // namespace sterna::test
