#include "nets/zoo/zoo.h"

#include <algorithm>

#include "nets/graph/graph.h"

// Each line names the ZooNet that a file of this room defines.
#define STERNA_NETS(NET) \
  NET(kLenet)            \
  NET(kMlp)              \
  NET(kCifarnet)         \
  NET(kAlexnet)          \
  NET(kAlexnetV2)        \
  NET(kVggA)             \
  NET(kVgg16)            \
  NET(kGooglenet)        \
  NET(kInceptionV3)      \
  NET(kResnet20)         \
  NET(kResnet50)
#define STERNA_NETS_OF_OTHERS(NET) \
  NET(kSchlag)                     \
  NET(kToyAb)
#define STERNA_NETS_FOR_MEASURING(NET) \
  NET(kFixedGradients)                 \
  NET(kPacedFixedGradients)

namespace sterna::nets {

#define STERNA_DECLARE(NET) extern const ZooNet NET;
STERNA_NETS(STERNA_DECLARE)
STERNA_NETS_OF_OTHERS(STERNA_DECLARE)
STERNA_NETS_FOR_MEASURING(STERNA_DECLARE)

namespace {

#define STERNA_ADDRESS(NET) &NET,
const ZooNet* const kNets[] = {STERNA_NETS(STERNA_ADDRESS)};
const ZooNet* const kOfOthers[] = {STERNA_NETS_OF_OTHERS(STERNA_ADDRESS)};
const ZooNet* const kForMeasuring[] = {STERNA_NETS_FOR_MEASURING(STERNA_ADDRESS)};

}  // namespace

Activation& images_input(Graph& graph, const ZooOptions& options) {
  const ImageClasses& images = options.images;
  return graph.input({options.batch, images.channels, images.rows, images.columns},
                     Layout::channels_last);
}

const ZooNet* find_net(std::string_view name) {
  using Nets = std::span<const ZooNet* const>;
  for (const Nets nets : {Nets(kNets), Nets(kOfOthers), Nets(kForMeasuring)}) {
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

std::vector<std::string_view> trainable_names() {
  std::vector<std::string_view> names = net_names();
  for (const ZooNet* net : kOfOthers) names.emplace_back(net->name);
  return names;
}

}  // namespace sterna::nets
