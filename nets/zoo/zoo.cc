#include "nets/zoo/zoo.h"

#include <algorithm>

// Each line names the ZooNet that a file of this room defines.
#define STERNA_NETS(NET) \
  NET(kLenet)            \
  NET(kMlp)
#define STERNA_NETS_FOR_MEASURING(NET) \
  NET(kFixedGradients)                 \
  NET(kPacedFixedGradients)

namespace sterna::nets {

#define STERNA_DECLARE(NET) extern const ZooNet NET;
STERNA_NETS(STERNA_DECLARE)
STERNA_NETS_FOR_MEASURING(STERNA_DECLARE)

namespace {

#define STERNA_ADDRESS(NET) &NET,
const ZooNet* const kNets[] = {STERNA_NETS(STERNA_ADDRESS)};
const ZooNet* const kForMeasuring[] = {STERNA_NETS_FOR_MEASURING(STERNA_ADDRESS)};

}  // namespace

const ZooNet* find_net(std::string_view name) {
  using Nets = std::span<const ZooNet* const>;
  for (const Nets nets : {Nets(kNets), Nets(kForMeasuring)}) {
    for (const ZooNet* net : nets)
      if (net->name == name) return net;
  }
  return nullptr;
}

std::vector<std::string_view> net_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kNets));
  for (const ZooNet* net : kNets) names.emplace_back(net->name);
  return names;
}

}  // namespace sterna::nets
