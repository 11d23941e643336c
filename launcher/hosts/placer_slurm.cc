// placer = "slurm": the hosts are those of the allocation that this process is in; without one,
// `sterna up` submits a batch script that runs the file, and Slurm keeps the run.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <filesystem>

#include "launcher/hosts/placer.h"
#include "launcher/hosts/slurm.h"
#include "launcher/hosts/slurm_batch.h"
#include "launcher/hosts/slurm_commands.h"
#include "launcher/hosts/slurm_step.h"
#include "launcher/text/directory_path.h"
#include "launcher/text/environment.h"
#include "launcher/text/own_name.h"
#include "launcher/text/shell_word.h"
#include "runtime/base/file.h"
#include "runtime/remote/bundle.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

/// Slurm gives a cancelled job KillWait, 30 s by default, and then kills it.
constexpr Duration kSlurmsGrace = std::chrono::seconds(45);
constexpr Duration kForceTakes = std::chrono::seconds(30);
/// A run of many time limits; what fails again and again from one step ends long before.
constexpr std::uint64_t kTimesAgain = 1000;
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

std::string script_beside(const std::string& run_directory) { return run_directory + ".sbatch"; }

/// Makes the script of a run in this directory, still empty; false, with errno, where it cannot.
bool make_script(const std::string& run_directory) {
  constexpr mode_t kMode = 0644;
  const int file =
      ::open(script_beside(run_directory).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (file >= 0) ::close(file);
  return file >= 0;
}

/// A directory below "runs" that no other run of this folder has, whose script is made.
Result<std::string> new_directory(const std::string& name) {
  STERNA_TRY(make_directory("runs"));
  const std::string base =
      fmt::format("runs/{}-{:%Y%m%dT%H%M%SZ}", name, fmt::gmtime(std::time(nullptr)));
  return make_own_name(base, "-", "the batch script of ", [](const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return make_script(path);
    errno = EEXIST;
    return false;
  });
}

/// The given one, whose script is made; that of a run that is there, and goes on, is its own.
Result<std::string> given_directory(const std::string& given) {
  const std::string path = absolute_directory(given);
  STERNA_TRY(make_directory(fs::path(path).parent_path()));
  if (make_script(path)) return path;
  if (errno != EEXIST) return system_error("cannot create " + script_beside(path), errno);
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return path;
  return Error{Errc::already_exists,
               fmt::format("{} exists: a run was submitted into {}, which is not there yet; "
                           "give another --run-dir, or remove it",
                           script_beside(path), path)};
}

/// As people find it from here.
std::string shown(const std::string& path) {
  std::error_code failed;
  const fs::path near = fs::path(path).lexically_proximate(fs::current_path(failed));
  return near.string().starts_with("..") ? path : near.string();
}

class SlurmQueue final : public JobQueue {
 public:
  std::string_view name() const override { return "Slurm"; }
  std::string own_job() const override { return environment("SLURM_JOB_ID").value_or(""); }

  Result<Submitted> submit(RealMachine& machine, const ClusterFile& file,
                           const Submission& what) const override {
    STERNA_ASSIGN(const SlurmRequest request, slurm_request(file));
    SlurmScript script;
    std::error_code failed;
    script.folder = fs::current_path(failed).string();
    if (failed) return system_error("the folder that the job would begin in", failed.value());
    script.programs = own_programs();
    script.again = what.again.value_or(kTimesAgain);
    if (!what.data.empty()) script.data = fs::absolute(what.data).lexically_normal().string();
    STERNA_ASSIGN(const std::string directory, what.run_dir.empty()
                                                   ? new_directory(file.cluster.name)
                                                   : given_directory(what.run_dir));
    script.run_directory = absolute_directory(directory);
    const std::string path = shown(script_beside(script.run_directory));
    STERNA_TRY(write_atomically(path, slurm_script(file, request, script)));
    const Result<std::string> said = output_of(machine, {"sbatch", "--parsable", path});
    if (!said) {
      // So that the same command may be tried again.
      std::error_code ignored;
      if (!fs::exists(script.run_directory, ignored)) fs::remove(path, ignored);
      return Error{Errc::unavailable, said.error().in("sbatch refuses " + path).message};
    }
    const std::string job = said->substr(0, said->find(';'));
    return Submitted{
        job, script.run_directory,
        fmt::format("Slurm's job {}: {} node{} with {} cpu{} each", job, request.nodes,
                    request.nodes == 1 ? "" : "s", request.cpus, request.cpus == 1 ? "" : "s"),
        shown(output_beside(script.run_directory)), "scancel " + job};
  }

  Result<QueuedJob> look(RealMachine& machine, const std::string& job) const override {
    STERNA_ASSIGN(const SlurmJob found, slurm_job(machine, job));
    return QueuedJob{slurm_words(job, found), found.state, found.nodes, found.over(),
                     found.state == "COMPLETED"};
  }

  Result<void> end(RealMachine& machine, const std::string& job) const override {
    const auto gone_within = [&](Duration patience) {
      const Time deadline = machine.loop().now() + patience;
      while (true) {
        const Result<SlurmJob> found = slurm_job(machine, job);
        if (found && found->over()) return true;
        if (machine.loop().now() >= deadline) return false;
        machine.loop().run_until([] { return false; }, machine.loop().now() + kAskEvery);
      }
    };
    if (gone_within(Duration::zero())) return {};
    STERNA_TRY(output_of(machine, {"scancel", job}));
    if (gone_within(kSlurmsGrace)) return {};
    STERNA_TRY(output_of(machine, {"scancel", "--signal=KILL", "--full", job}));
    if (gone_within(kForceTakes)) return {};
    return Error{Errc::deadline,
                 fmt::format("Slurm still has job {}; `squeue -j {}` says where", job, job)};
  }

  Result<void> put_back(RealMachine& machine, const std::string& job) const override {
    STERNA_ASSIGN(const SlurmJob found, slurm_job(machine, job));
    if (found.state != "RUNNING") {
      return Error{Errc::cancelled,
                   fmt::format("Slurm's job {} does not go back into the queue: it "
                               "is {}",
                               job, found.state.empty() ? "over" : found.state)};
    }
    STERNA_TRY(output_of(machine, {"scontrol", "requeue", job}));
    return {};
  }
  std::uint64_t times_again() const override {
    const std::string count = environment("SLURM_RESTART_COUNT").value_or("");
    std::uint64_t times = 0;
    std::from_chars(count.data(), count.data() + count.size(), times);
    return times;
  }
  std::string submit_again(const std::string& run_directory) const override {
    return "sbatch " + shell_word(script_beside(run_directory));
  }

  std::shared_ptr<void> watch(UvLoop& loop, std::function<void()> gone) const override {
    return std::make_shared<SlurmStep>(loop, std::move(gone));
  }
  /// Slurm signals the processes of a job one after the other.
  Duration signals_take() const override { return std::chrono::seconds(2); }
};

class Slurm final : public Placer {
 public:
  Result<ClusterFile> with_hosts(RealMachine& machine, ClusterFile file) const override {
    return on_allocation(machine, std::move(file));
  }
  std::optional<RemoteHost> way_to(const ClusterFile& /*file*/,
                                   const HostSection& host) const override {
    return RemoteHost{srun_command(host.name), false, host.work};
  }
  const JobQueue* queue() const override { return &queue_; }

 private:
  SlurmQueue queue_;
};

}  // namespace

const Placer& slurm_placer() {
  static const Slurm placer;
  return placer;
}

}  // namespace sterna::launcher
