// sterna check FILE: reads the cluster file and says what it describes and where everything would
// run; contacts no host and starts nothing.
#include <fmt/format.h>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/cluster_file/placement_view.h"
#include "launcher/commands/commands.h"
#include "launcher/text/console.h"

namespace sterna::launcher {

int check_command(const CheckOptions& options) {
  const Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  if (options.json) return print_result(placement_json(*file) + "\n") ? exit_done : exit_failed;
  std::string text = fmt::format("{}: good. {}\n", options.file, summary(*file));
  for (const std::string& line : placement_lines(*file)) text += line + "\n";
  return print_result(text) ? exit_done : exit_failed;
}

}  // namespace sterna::launcher
