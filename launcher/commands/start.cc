#include "launcher/commands/start.h"

#include <fmt/format.h>

#include <filesystem>

#include "launcher/hosts/bundle_archive.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/hosts/placer.h"
#include "launcher/job/resume.h"
#include "launcher/text/shell_word.h"
#include "runtime/base/random.h"

namespace sterna::launcher {

int before_the_run(const Error& error, const Console& console) {
  console.report(error);
  return kExitBadInput;
}

Argument again_argument(StartOptions& options) {
  constexpr std::int64_t kMost = 1000000;
  return {.name = "--again",
          .into = &options.again_given,
          .help = "After a loss start it again from its newest checkpoint, at most so many times",
          .type = "N",
          .range = std::pair<std::int64_t, std::int64_t>(0, kMost)};
}

Result<void> check_again(const ClusterFile& file) {
  if (!file.trains() || !file.checkpoint.on()) {
    return Error{Errc::invalid_argument,
                 "--again goes on from checkpoints, and the file keeps none: set "
                 "checkpoint.every_seconds or checkpoint.every_steps"};
  }
  return {};
}

Result<Bundles> bundles_for(const ClusterFile& file) {
  Bundles bundles;
  if (!has_remote_hosts(file) || !placer_of(file).ships()) return bundles;
  STERNA_ASSIGN(bundles.nodes, archived_bundle(file.program.path));
  bundles.own = bundles.nodes;
  if (head_is_remote(file) && !file.program.path.empty()) {
    STERNA_ASSIGN(bundles.own, archived_bundle(""));
  }
  return bundles;
}

namespace {

/// What the user typed, less where the run goes; its file by the path that it has from anywhere.
std::string starts_it(const StartOptions& options, const std::string& file) {
  std::string words = fmt::format("{} {} {}", own_command(), options.command, shell_word(file));
  for (const std::string& one : options.given.overrides) words += " --set " + shell_word(one);
  if (!options.data.empty()) words += " --data " + shell_word(options.data);
  return words;
}

}  // namespace

OwnerClientOptions owner_options(const StartOptions& options, const ClusterFile& file,
                                 const Program& program, const Bundles& bundles, RunView& view,
                                 const Console& console) {
  OwnerClientOptions client;
  client.file = file;
  client.nodes = bundles.nodes;
  client.own = bundles.own;
  client.order.file_path =
      std::filesystem::absolute(options.given.file).lexically_normal().string();
  client.order.data = options.data;
  client.order.run_dir = options.run_dir;
  client.order.again = static_cast<std::uint32_t>(options.again().value_or(0));
  const bool elsewhere = head_is_remote(file);
  client.order.run_parent = elsewhere ? head_of(file)->work + "/runs" : "runs";
  client.order.run = SystemRandom().next() | 1;
  client.order.schema_hash = program.schema_hash;
  // On a head that is another machine it lies in the bundle that was shipped there.
  client.order.program = program.path;
  if (elsewhere && !program.path.empty()) {
    client.order.program = fmt::format("{}/bundles/{}/bin/{}", head_of(file)->work,
                                       bundles.nodes.hash, bundles.nodes.program);
  }
  if (elsewhere) client.order.starts_it = starts_it(options, client.order.file_path);
  client.progress = [console](std::string_view line) { console.say(line); };
  client.status = [&view](const RunStatus& status) { view.update(status); };
  return client;
}

Result<RunState> keep_here(RunState state) {
  state.operators.resize(state.operators.size() / 2);
  STERNA_ASSIGN(const RunStates states, RunStates::of_user());
  return states.begin(std::move(state));
}

}  // namespace sterna::launcher
