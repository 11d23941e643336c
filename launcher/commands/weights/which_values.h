// --averaged and --raw: which of a job's values a command is to take.
#pragma once

#include "actors/weights/trained_weights.h"
#include "launcher/commands/command.h"
#include "runtime/base/result.h"

namespace sterna::launcher {

struct WhichValues {
  bool averaged = false;
  bool raw = false;

  /// They point into this object.
  Argument averaged_argument() {
    return {"--averaged", &averaged,
            "Moving averages of the parameters; default where there are any"};
  }
  Argument raw_argument() { return {"--raw", &raw, "The parameters as the last step left them"}; }
  Result<actors::ValuesOf> values() const {
    if (averaged && raw) {
      return Error{Errc::invalid_argument, "--averaged and --raw do not go together"};
    }
    if (raw) return actors::ValuesOf::parameters;
    return averaged ? actors::ValuesOf::averages : actors::ValuesOf::best;
  }
};

}  // namespace sterna::launcher
