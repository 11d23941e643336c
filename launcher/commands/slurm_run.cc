#include "launcher/commands/slurm_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "launcher/hosts/slurm_batch.h"
#include "launcher/text/console.h"
#include "launcher/text/json_line.h"
#include "runtime/base/file.h"
#include "runtime/host/real_machine.h"
#include "runtime/remote/bundle.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// Slurm gives a cancelled job KillWait, 30 s by default, and then kills it.
constexpr Duration kSlurmsGrace = std::chrono::seconds(45);
constexpr Duration kForceTakes = std::chrono::seconds(30);
constexpr Duration kAskEvery = std::chrono::milliseconds(500);

/// Where a node may find this program: at the same path, or in the bundle that it got once.
std::vector<std::string> own_programs() {
  std::vector<std::string> programs;
  const Result<fs::path> folder = own_bundle("/proc/self/exe");
  const Result<Bundle> bundle = folder ? read_bundle(*folder) : Result<Bundle>(folder.error());
  if (bundle) {
    programs.push_back((fs::canonical(bundle->folder) / "bin" / bundle->program).string());
    programs.push_back("~/.cache/sterna/bundles/" + bundle->hash + "/bin/" + bundle->program);
  }
  return programs;
}

Result<std::string> write_script(const std::string& id, const std::string& text) {
  STERNA_TRY(make_directory("runs"));
  const std::string path = "runs/" + id + ".sbatch";
  STERNA_TRY(write_atomically(path, text));
  return path;
}

/// A name that no other run of this folder has.
std::string new_id(const std::string& name) {
  const std::string base =
      fmt::format("{}-{:%Y%m%dT%H%M%SZ}", name, fmt::gmtime(std::time(nullptr)));
  std::string id = base;
  for (int n = 2; fs::exists("runs/" + id + ".sbatch"); ++n) id = fmt::format("{}-{}", base, n);
  return id;
}

}  // namespace

int submit_to_slurm(RealMachine& machine, const RunOptions& options, const ClusterFile& file) {
  const Result<RunStates> states = RunStates::of_user();
  if (!states) return report(states.error());
  const Result<SlurmRequest> request = slurm_request(file);
  if (!request) return report(request.error());
  SlurmScript script;
  script.id = new_id(file.cluster.name);
  script.folder = fs::current_path().string();
  script.programs = own_programs();
  if (!options.data.empty()) script.data = fs::absolute(options.data).lexically_normal().string();
  const std::string run_directory = options.run_dir.empty() ? "runs/" + script.id : options.run_dir;
  script.run_directory = fs::absolute(run_directory).lexically_normal().string();

  const Result<std::string> path = write_script(script.id, slurm_script(file, *request, script));
  if (!path) return report(path.error());
  const Result<std::string> submitted = output_of(machine, {"sbatch", "--parsable", *path});
  if (!submitted) {
    report(submitted.error().in("sbatch refuses " + *path));
    return exit_failed;
  }
  RunState state;
  state.id = fs::path(script.run_directory).filename().string();
  state.name = file.cluster.name;
  state.file = fs::absolute(options.file).lexically_normal().string();
  state.run_directory = script.run_directory;
  state.placer = file.cluster.placer;
  state.slurm_job = submitted->substr(0, submitted->find(';'));
  state.detached = true;
  state.began = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  if (const Result<void> kept = states->write(state); !kept) {
    say(kept.error().message);
    say(fmt::format("end it with scancel {}", state.slurm_job));
    return exit_failed;
  }
  say(
      fmt::format("{} is submitted as Slurm's job {}: {} node{} with {} cpu{} each; `sterna status "
                  "{}` asks after it, `sterna down {}` cancels it; it writes to runs/{}.out",
                  state.id, state.slurm_job, request->nodes, request->nodes == 1 ? "" : "s",
                  request->cpus, request->cpus == 1 ? "" : "s", state.id, state.id, script.id));
  return !options.json || print_result(state_json_line(state) + "\n") ? exit_done : exit_failed;
}

RunState with_slurms_end(RealMachine& machine, const RunStates& states, RunState state) {
  if (state.slurm_job.empty() || !state.ended.empty()) return state;
  const Result<SlurmJob> job = slurm_job(machine, state.slurm_job);
  if (!job || !job->over()) return state;
  // Where the home is shared, the run itself has left its last words meanwhile.
  if (const Result<RunState> after = states.find(state.id); after && !after->ended.empty()) {
    return *after;
  }
  state.ended = slurm_words(state, job);
  state.exit = job->state == "COMPLETED" ? exit_done : exit_failed;
  state.operators.clear();
  if (const Result<void> written = states.write(state); !written) say(written.error().message);
  return state;
}

std::string slurm_words(const RunState& state, const Result<SlurmJob>& job) {
  if (!job) return job.error().message;
  std::string word = job->state;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string name = "job " + state.slurm_job;
  if (job->state == "PENDING") return fmt::format("{} waits in the queue: {}", name, job->reason);
  if (job->state.empty()) return name + " is over; Slurm has forgotten it";
  if (job->over()) return fmt::format("{} is over: {} after {}", name, word, job->elapsed);
  return fmt::format("{} is {} on {} since {}", name, word, job->nodes, job->elapsed);
}

int slurm_status(RealMachine& machine, const RunState& state, bool json) {
  const Result<SlurmJob> job = slurm_job(machine, state.slurm_job);
  if (json) {
    auto line = Json::parse(state_json_line(state));
    line["slurm_job"] = state.slurm_job;
    line["slurm_state"] = job ? Json(job->state) : nullptr;
    line["slurm_nodes"] = job ? Json(job->nodes) : nullptr;
    if (!print_result(json_line(line) + "\n")) return exit_failed;
  } else if (!print_result(fmt::format("{}: {}\n", state.id, slurm_words(state, job)))) {
    return exit_failed;
  }
  return job ? exit_done : exit_failed;
}

Result<void> end_slurm_job(RealMachine& machine, const std::string& id) {
  const auto gone_within = [&](Duration patience) {
    const Time deadline = machine.loop().now() + patience;
    while (true) {
      const Result<SlurmJob> job = slurm_job(machine, id);
      if (job && job->over()) return true;
      if (machine.loop().now() >= deadline) return false;
      machine.loop().run_until([] { return false; }, machine.loop().now() + kAskEvery);
    }
  };
  if (gone_within(Duration::zero())) return {};
  STERNA_TRY(output_of(machine, {"scancel", id}));
  if (gone_within(kSlurmsGrace)) return {};
  STERNA_TRY(output_of(machine, {"scancel", "--signal=KILL", "--full", id}));
  if (gone_within(kForceTakes)) return {};
  return Error{Errc::deadline,
               fmt::format("Slurm still has job {}; `squeue -j {}` says where", id, id)};
}

}  // namespace sterna::launcher
