#include "launcher/cluster_file/cluster_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "launcher/cluster_file/draft.h"
#include "runtime/base/file.h"

namespace sterna::launcher {
namespace {

/// The file's name without its ending, as plain as cluster.name must be.
std::string default_name(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string().substr(0, 40);
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '_';
  }
  if (name.empty() || !std::isalnum(static_cast<unsigned char>(name.front()))) {
    name = "run" + name.substr(0, 37);
  }
  return name;
}

}  // namespace

bool ClusterFile::trains() const {
  return std::none_of(actors.begin(), actors.end(),
                      [](const ActorPlan& actor) { return !actor.type.empty(); });
}

bool ClusterFile::placed() const {
  return std::none_of(actors.begin(), actors.end(),
                      [](const ActorPlan& actor) { return actor.host.empty(); });
}

bool ClusterFile::manages_gpus() const {
  return std::any_of(hosts.begin(), hosts.end(),
                     [](const HostSection& host) { return host.gpus > 0; });
}

bool ClusterFile::talks_tcp() const {
  const PlacerTraits& placer = cluster.placing();
  return cluster.transport != "ipc" || placer.others == OtherMachines::kAllButHead ||
         std::any_of(hosts.begin(), hosts.end(),
                     [&](const HostSection& host) { return placer.reached_by_ssh(host); });
}

std::int64_t ClusterFile::ranks() const {
  std::int64_t sum = 0;
  for (const ActorPlan& actor : actors) sum += actor.ranks;
  return sum;
}

std::int64_t ClusterFile::shards() const {
  for (const ActorPlan& actor : actors) {
    if (actor.shards > 0) return actor.shards;
  }
  return 0;
}

std::int64_t ClusterFile::count(Role role) const {
  return std::count_if(actors.begin(), actors.end(), [role](const ActorPlan& actor) {
    return actor.role == role && !actor.replica;
  });
}

std::vector<std::string> ClusterFile::names_of(Role role) const {
  std::vector<std::string> names;
  for (const ActorPlan& actor : actors) {
    if (actor.role == role && !actor.replica) names.push_back(actor.name);
  }
  return names;
}

std::vector<std::string> ClusterFile::names_of_servers() const {
  const bool within = gradient.exchange == actors::ExchangeRule::nccl;
  return names_of(within ? Role::kWorker : Role::kParameterServer);
}

std::int64_t processes_on(const ClusterFile& file, const HostSection& host) {
  std::int64_t processes = 1;
  for (const ActorPlan& actor : file.actors) processes += actor.host == host.name ? 1 : 0;
  return host.name == file.cluster.head ? processes + 2 : processes;
}

bool reads_data(const ClusterFile& file, const HostSection& host) {
  return std::any_of(file.actors.begin(), file.actors.end(), [&](const ActorPlan& actor) {
    return actor.host == host.name && facts_of(actor.role).reads_data;
  });
}

Result<ClusterFile> read_cluster_file(const std::string& path,
                                      std::span<const std::string> overrides) {
  STERNA_ASSIGN(const std::string text, read_file(path));
  return parse_cluster_file(text, path, overrides);
}

Result<ClusterFile> parse_cluster_file(const std::string& text, const std::string& path,
                                       std::span<const std::string> overrides) {
  Problems problems(path);
  const Draft draft = read_draft(text, overrides, problems);
  if (problems.any()) return problems.error();
  ClusterFile file = finish(draft, default_name(path), problems);
  if (problems.any()) return problems.error();
  return file;
}

}  // namespace sterna::launcher
