#include "launcher/simulate/simulated_checkpoints.h"

#include <filesystem>
#include <fstream>

#include "actors/checkpoint/state_part.h"
#include "launcher/hosts/host_plan.h"
#include "launcher/job/resume.h"
#include "launcher/simulate/fault.h"
#include "runtime/cluster/process_control.h"

namespace sterna::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGone = ".unmounted";

std::string away(const std::string& host) { return host + kGone; }

}  // namespace

SimulatedCheckpoints::SimulatedCheckpoints(const ClusterFile& file) {
  job_.file = file;
  job_.data = {.dir = {}, .name = file.data.name};
  job_.checkpoints = kOwnerFiles;
}

actors::JobConfig SimulatedCheckpoints::planned(actors::JobConfig job) const {
  return going_on_from(job_.from.get(), std::move(job));
}

Result<void> SimulatedCheckpoints::keep(Cluster& cluster, const actors::JobConfig& job,
                                        std::function<std::string(const std::string&)> host_of) {
  record_ = std::make_shared<actors::KeeperRecord>();
  STERNA_ASSIGN(actors::KeeperSetup setup,
                keeper_setup_of(job_.file, job, job_.data, job_.from.get(), job_.checkpoints));
  setup.node_of = [&cluster, host_of = std::move(host_of)](const std::string& actor) {
    return cluster.process_of(node_name(host_of(actor)));
  };
  setup.record = record_;
  setup.say = [](const std::string&) {};
  setup.committed = [](const actors::SavedCheckpoint&) {};
  const auto keeper = cluster.process().spawn<actors::CheckpointKeeper>(std::move(setup));
  return cluster.publish(actors::kKeeperName, keeper);
}

bool SimulatedCheckpoints::goes_on_after(const ProcessDown& failure) {
  JobOutcome outcome;
  outcome.lost = is_loss(failure);
  outcome.record.result.cause = failure.cause;
  return restarts_.after(outcome, job_);
}

std::uint64_t SimulatedCheckpoints::step() const {
  return job_.from == nullptr ? 0 : job_.from->manifest.step;
}

void unmount(const std::string& host) {
  std::error_code ignored;
  if (fs::exists(away(host), ignored)) return;
  fs::create_directories(host, ignored);
  fs::rename(host, away(host), ignored);
  const std::ofstream no_folder(host);
}

void mount(const std::string& host) {
  std::error_code ignored;
  if (!fs::exists(away(host), ignored)) return;
  fs::remove_all(host, ignored);
  fs::rename(away(host), host, ignored);
}

void tear(const std::string& host, std::uint64_t from) {
  fs::path last;
  std::error_code failed;
  fs::recursive_directory_iterator at(host, failed);
  for (const fs::recursive_directory_iterator end; !failed && at != end; at.increment(failed)) {
    // They are named by their versions.
    if (at->is_regular_file(failed) && at->path() > last) last = at->path();
  }
  if (last.empty() || last.parent_path().filename() == actors::checkpoint_name(from)) return;
  const std::uintmax_t bytes = fs::file_size(last, failed);
  if (failed) return;
  fs::resize_file(last, bytes / 2, failed);
  fs::resize_file(last, bytes, failed);
}

}  // namespace sterna::launcher
