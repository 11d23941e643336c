#include "launcher/hosts/placer.h"

#include <array>
#include <utility>

#include "launcher/hosts/host_plan.h"

// One word a placer: placer_NAME.cc defines NAME_placer().
#define STERNA_PLACERS(EACH) EACH(ssh) EACH(local) EACH(slurm) EACH(join)

namespace sterna::launcher {

#define STERNA_DECLARE(name) const Placer& name##_placer();
STERNA_PLACERS(STERNA_DECLARE)

const Placer& placer_named(std::string_view name) {
#define STERNA_ROW(name) std::pair<std::string_view, const Placer& (*)()>{#name, name##_placer},
  constexpr std::array kAll = {STERNA_PLACERS(STERNA_ROW)};
  for (const auto& [known, placer] : kAll) {
    if (known == name) return placer();
  }
  return kAll.front().second();
}

Result<ClusterFile> Placer::with_hosts(RealMachine& /*machine*/, ClusterFile file) const {
  return file;
}

std::optional<RemoteHost> Placer::way_to(const ClusterFile& /*file*/,
                                         const HostSection& /*host*/) const {
  return std::nullopt;
}

Result<std::unique_ptr<Spawner>> Placer::nodes(RealMachine& machine, const ClusterFile& file,
                                               const NodeStart& start) const {
  if (!has_remote_hosts(file)) return std::unique_ptr<Spawner>();
  auto placer = std::make_unique<RemotePlacer>(
      machine.loop(), machine.spawner(), placer_options_of(file, start.bundle, start.progress));
  if (!start.unprepared) {
    STERNA_TRY(placer->prepare(start.interrupted));
  }
  return std::unique_ptr<Spawner>(std::move(placer));
}

}  // namespace sterna::launcher
