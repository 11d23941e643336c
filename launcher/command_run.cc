// sterna run FILE: a whole job in the foreground.
#include <cstdio>

#include "launcher/cluster_file.h"
#include "launcher/commands.h"

namespace sterna::launcher {

int run_command(const RunOptions& options) {
  const Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  return report({Errc::unavailable, "not linked yet"});
}

}  // namespace sterna::launcher
