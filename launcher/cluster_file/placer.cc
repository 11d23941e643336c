#include "launcher/cluster_file/placer.h"

#include <algorithm>
#include <array>

#include "launcher/cluster_file/cluster_file.h"

namespace sterna::launcher {
namespace {

constexpr std::array kPlacers = {
    PlacerTraits{"ssh", "a host without ssh is this machine", OtherMachines::kThoseWithSsh},
    PlacerTraits{"local", "all hosts are emulated here", OtherMachines::kNone},
    PlacerTraits{"slurm", "the hosts are its allocation's", OtherMachines::kAllButHead, true},
    PlacerTraits{"join", "whoever runs sterna join there", OtherMachines::kAllButHead},
};

}  // namespace

bool PlacerTraits::reached_by_ssh(const HostSection& host) const {
  return others == OtherMachines::kThoseWithSsh && !host.ssh.empty();
}

std::vector<std::string_view> placer_names() {
  std::vector<std::string_view> names;
  names.reserve(kPlacers.size());
  for (const PlacerTraits& placer : kPlacers) names.push_back(placer.name);
  return names;
}

const std::string& placer_help() {
  static const std::string help = [] {
    std::string text = "who starts the node agents: ";
    for (const PlacerTraits& placer : kPlacers) {
      text += &placer == kPlacers.data() ? "" : ", ";
      text.append(placer.name).append(" (").append(placer.help).append(")");
    }
    return text;
  }();
  return help;
}

const PlacerTraits& placer_traits(std::string_view name) {
  const auto found =
      std::find_if(kPlacers.begin(), kPlacers.end(),
                   [name](const PlacerTraits& placer) { return placer.name == name; });
  return found == kPlacers.end() ? kPlacers.front() : *found;
}

}  // namespace sterna::launcher
