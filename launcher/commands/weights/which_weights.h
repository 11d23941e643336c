// --averaged, --raw and --best: which of a run's weights a command is to take.
#pragma once

#include <string>

#include "actors/weights/trained_weights.h"
#include "launcher/commands/command.h"
#include "launcher/commands/weights/say_passed_over.h"
#include "launcher/text/console.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct WhichWeights {
  bool averaged = false;
  bool raw = false;
  bool best = false;

  /// They point into this object.
  Argument averaged_argument() {
    return {"--averaged", &averaged,
            "Moving averages of the parameters; default where there are any"};
  }
  Argument raw_argument() { return {"--raw", &raw, "The parameters as the last step left them"}; }
  Argument best_argument() {
    return {"--best", &best,
            "Of a run's checkpoints the one of the highest precision@1, not the newest"};
  }
  Result<actors::ValuesOf> values() const {
    if (averaged && raw) {
      return Error{Errc::invalid_argument, "--averaged and --raw do not go together"};
    }
    if (raw) return actors::ValuesOf::parameters;
    return averaged ? actors::ValuesOf::averages : actors::ValuesOf::preferred;
  }
  /// Of a file, a checkpoint or a run's directory; says which checkpoints are passed over.
  Result<actors::TrainedWeights> open(const std::string& path, const Console& console) const {
    STERNA_ASSIGN(const actors::ValuesOf which, values());
    if (best) return actors::TrainedWeights::open_best(path, which);
    STERNA_ASSIGN(auto weights, actors::TrainedWeights::open(path, which));
    say_passed_over(weights, console);
    return weights;
  }
};

}  // namespace sterna::launcher
