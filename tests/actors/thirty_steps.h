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

inline void replace_once(std::string& text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
}

/// The same with the net of simulated jobs, which takes a tenth of the time: for who kills, stops
/// or asks, where nothing is about what is trained.
inline std::string of_a_small_net(std::string text = kThirtySteps) {
  replace_once(text, "net = \"lenet\"", "net = \"mlp\"\nhidden = [200, 50]");
  return text;
}

/// The same with both ranks in one worker, which has what servers have elsewhere.
inline std::string without_servers(std::string text = kThirtySteps) {
  replace_once(text, "[[actor]]\nrole = \"parameter_server\"\n\n", "");
  replace_once(text, "count = 2", "ranks = 2");
  replace_once(text, "[gradient]\n", "[gradient]\nexchange = \"nccl\"\n");
  return text;
}

}  // namespace sterna::test
