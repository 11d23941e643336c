// What a command says where it takes an older checkpoint than the newest.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "actors/weights/trained_weights.h"
#include "launcher/text/console.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {

/// A line for each checkpoint that is damaged, with the step that is taken instead.
inline void say_passed_over(const std::vector<std::string>& damaged, std::uint64_t step,
                            const Console& console) {
  for (const std::string& why : damaged) {
    console.say(printable(fmt::format("passed over: {}; step {} is taken instead", why,
                                      thousands(static_cast<std::int64_t>(step)))));
  }
}

inline void say_passed_over(const actors::TrainedWeights& weights, const Console& console) {
  say_passed_over(weights.passed_over(), weights.steps().value_or(0), console);
}

}  // namespace sterna::launcher
