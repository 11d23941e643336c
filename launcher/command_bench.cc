// sterna bench actors|train: what the runtime and a training step cost.
#include "launcher/commands.h"

namespace sterna::launcher {

int bench_command(const BenchOptions& options) {
  return report({Errc::unavailable, "bench " + options.what + ": not linked yet"});
}

}  // namespace sterna::launcher
