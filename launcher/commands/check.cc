// sterna check FILE: reads the cluster file and says what it describes and where everything would
// run; contacts no host and starts nothing.
#include <fmt/format.h>

#include "launcher/cluster_file/cluster_file.h"
#include "launcher/cluster_file/placement_view.h"
#include "launcher/commands/file_arguments.h"

namespace sterna::launcher {
namespace {

struct Options {
  GivenFile given;
  bool json = false;
};

int check(const Options& options, const Console& console) {
  const Result<ClusterFile> file = read_cluster_file(options.given.file, options.given.overrides);
  if (!file) return console.report(file.error());
  if (options.json) return console.result(placement_json(*file) + "\n");
  std::string text = fmt::format("{}: good. {}\n", options.given.file, summary(*file));
  for (const std::string& line : placement_lines(*file)) text += line + "\n";
  return console.result(text);
}

}  // namespace

Command check_command() {
  const auto o = std::make_shared<Options>();
  return {"check", "Check a cluster file and show who runs where; start nothing",
          with_file(o->given, {{"--json", &o->json, "Print the placement as one line of JSON"}}),
          [o](const Context& context) { return check(*o, context.console); }};
}

}  // namespace sterna::launcher
