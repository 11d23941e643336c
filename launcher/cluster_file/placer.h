// What is known of a placer before any host is asked: the values of cluster.placer, and which hosts
// they make other machines. What a placer does is its object's business (launcher/hosts/placer.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sterna::launcher {

struct HostSection;

/// Which hosts are other machines than the one that the command runs on.
enum class OtherMachines : std::uint8_t { kNone, kThoseWithSsh, kAllButHead };

struct PlacerTraits {
  std::string_view name;
  std::string_view help;  ///< for the key's help: how hosts come by their node agents
  OtherMachines others = OtherMachines::kNone;
  /// The hosts are those of an allocation, known when the run begins: the file names none, nor a
  /// head, and its actors ask for resources.
  bool brings_hosts = false;

  bool reached_by_ssh(const HostSection& host) const;
};

/// What cluster.placer may say.
std::vector<std::string_view> placer_names();
/// The help of the key, with a word on each.
const std::string& placer_help();
/// The first one's where no placer is called so.
const PlacerTraits& placer_traits(std::string_view name);

}  // namespace sterna::launcher
