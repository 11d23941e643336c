// sterna check FILE: reads the cluster file and says what it describes; starts nothing.
#include <fmt/format.h>

#include <cstdio>

#include "launcher/cluster_file.h"
#include "launcher/commands.h"

namespace sterna::launcher {
namespace {

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

int check_command(const CheckOptions& options) {
  const Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  fmt::print("{}: good. {}, {} with {}, {}, {}; {} of {}\n", options.file,
             counted(file->count("parameter_server"), "parameter server"),
             counted(file->count("worker"), "worker"), counted(file->ranks(), "rank"),
             counted(file->count("input_reader"), "input reader"),
             counted(file->count("evaluator"), "evaluator"), counted(file->job.steps, "step"),
             file->job.net);
  return exit_done;
}

}  // namespace sterna::launcher
