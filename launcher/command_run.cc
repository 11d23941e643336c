// sterna run FILE: a whole job in the foreground, with a view of it, a folder that keeps it, and an
// exit code that tells the truth.
#include <cstdio>

#include "launcher/bundle_archive.h"
#include "launcher/cluster_file.h"
#include "launcher/commands.h"
#include "launcher/host_plan.h"
#include "launcher/whole_run.h"

namespace sterna::launcher {

namespace {

/// Whatever stops a run before it begins is to be put right first.
int before_the_run(const Error& error) {
  report(error);
  return exit_bad_input;
}

}  // namespace

int run_command(const RunOptions& options) {
  const SteadyClock clock;
  WholeRunOptions whole;
  whole.began = clock.now();
  const Result<ClusterFile> file = read_cluster_file(options.file, options.overrides);
  if (!file) return report(file.error());
  RemoteBundle bundle;
  if (has_remote_hosts(*file)) {
    Result<RemoteBundle> archived = archived_bundle(file->program.path);
    if (!archived) return before_the_run(archived.error());
    bundle = std::move(archived).value();
    whole.make_placer =
        [&](RealMachine& machine,
            std::function<void(std::string_view)> progress) -> Result<std::unique_ptr<Spawner>> {
      auto placer = std::make_unique<RemotePlacer>(
          machine.loop(), machine.spawner(), placer_options_of(*file, bundle, std::move(progress)));
      placer->prepare();
      return std::unique_ptr<Spawner>(std::move(placer));
    };
  }
  whole.file = *file;
  whole.file_path = options.file;
  whole.data = options.data;
  whole.run_dir = options.run_dir;
  // With --json the last line of standard output is the result, so the view goes to the other one.
  whole.make_view = [&] { return make_run_view(options.json ? stderr : stdout, clock); };
  const Result<WholeRunEnd> end = whole_run(whole);
  if (!end) return before_the_run(end.error());

  const RunResult& result = end->result;
  if (result.exit == exit_done && !options.json) {
    if (!print_result(end->last_words + "\n")) return exit_failed;
  } else {
    say(end->last_words);
  }
  if (options.json && !print_result(to_json(result) + "\n") && result.exit == exit_done) {
    return exit_failed;
  }
  return result.exit;
}

}  // namespace sterna::launcher
