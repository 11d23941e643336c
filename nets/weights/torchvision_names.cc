#include "nets/weights/torchvision_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace sterna::nets {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;  // ours, theirs

std::optional<std::string_view> find(std::span<const Pair> names, std::string_view ours) {
  const auto found = std::ranges::find(names, ours, &Pair::first);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

/// Their modules of one of our layers.
struct Modules {
  std::string affine;  ///< with weights and biases
  std::string norm = {};
};

constexpr std::array<Pair, 4> kNormKinds{
    {{"gamma", "weight"}, {"beta", "bias"}, {"mean", "running_mean"}, {"variance", "running_var"}}};
constexpr std::array<Pair, 2> kAffineKinds{{{"weights", "weight"}, {"biases", "bias"}}};

/// "block2_3/conv1" is "layer2.2.conv1" and "layer2.2.bn1".
std::optional<Modules> resnet_modules(std::string_view layer) {
  if (layer == "logits") return Modules{"fc"};
  if (layer == "conv1") return Modules{"conv1", "bn1"};
  constexpr std::string_view kBlock = "block1_1/";
  const bool block = layer.starts_with("block") && layer.size() > kBlock.size() &&
                     layer[6] == '_' && layer[8] == '/' && layer[7] > '0' && layer[7] <= '9';
  if (!block) return std::nullopt;
  const std::string theirs = fmt::format("layer{}.{}.", layer[5], layer[7] - '1');
  const std::string_view part = layer.substr(kBlock.size());
  if (part == "shortcut") return Modules{theirs + "downsample.0", theirs + "downsample.1"};
  if (!part.starts_with("conv")) return std::nullopt;
  return Modules{theirs + std::string(part), theirs + "bn" + std::string(part.substr(4))};
}

constexpr std::array<Pair, 7> kAt35{{{"b0", "branch1x1"},
                                     {"b1a", "branch5x5_1"},
                                     {"b1b", "branch5x5_2"},
                                     {"b2a", "branch3x3dbl_1"},
                                     {"b2b", "branch3x3dbl_2"},
                                     {"b2c", "branch3x3dbl_3"},
                                     {"b3", "branch_pool"}}};
constexpr std::array<Pair, 4> kTo17{{{"b0", "branch3x3"},
                                     {"b1a", "branch3x3dbl_1"},
                                     {"b1b", "branch3x3dbl_2"},
                                     {"b1c", "branch3x3dbl_3"}}};
constexpr std::array<Pair, 10> kAt17{{{"b0", "branch1x1"},
                                      {"b1a", "branch7x7_1"},
                                      {"b1b", "branch7x7_2"},
                                      {"b1c", "branch7x7_3"},
                                      {"b2a", "branch7x7dbl_1"},
                                      {"b2b", "branch7x7dbl_2"},
                                      {"b2c", "branch7x7dbl_3"},
                                      {"b2d", "branch7x7dbl_4"},
                                      {"b2e", "branch7x7dbl_5"},
                                      {"b3", "branch_pool"}}};
constexpr std::array<Pair, 6> kTo8{{{"b0a", "branch3x3_1"},
                                    {"b0b", "branch3x3_2"},
                                    {"b1a", "branch7x7x3_1"},
                                    {"b1b", "branch7x7x3_2"},
                                    {"b1c", "branch7x7x3_3"},
                                    {"b1d", "branch7x7x3_4"}}};
constexpr std::array<Pair, 9> kAt8{{{"b0", "branch1x1"},
                                    {"b1a", "branch3x3_1"},
                                    {"b1b_1x3", "branch3x3_2a"},
                                    {"b1b_3x1", "branch3x3_2b"},
                                    {"b2a", "branch3x3dbl_1"},
                                    {"b2b", "branch3x3dbl_2"},
                                    {"b2c_1x3", "branch3x3dbl_3a"},
                                    {"b2c_3x1", "branch3x3dbl_3b"},
                                    {"b3", "branch_pool"}}};
constexpr std::array<Pair, 7> kStem{{{"conv0", "Conv2d_1a_3x3"},
                                     {"conv1", "Conv2d_2a_3x3"},
                                     {"conv2", "Conv2d_2b_3x3"},
                                     {"conv3", "Conv2d_3b_1x1"},
                                     {"conv4", "Conv2d_4a_3x3"},
                                     {"aux/proj", "AuxLogits.conv0"},
                                     {"aux/conv", "AuxLogits.conv1"}}};
struct Mixed {
  std::string_view ours, theirs;
  std::span<const Pair> branches;
};
constexpr std::array<Mixed, 11> kMixed{{{"mixed_256a", "Mixed_5b", kAt35},
                                        {"mixed_288a", "Mixed_5c", kAt35},
                                        {"mixed_288b", "Mixed_5d", kAt35},
                                        {"mixed_768a", "Mixed_6a", kTo17},
                                        {"mixed_768b", "Mixed_6b", kAt17},
                                        {"mixed_768c", "Mixed_6c", kAt17},
                                        {"mixed_768d", "Mixed_6d", kAt17},
                                        {"mixed_768e", "Mixed_6e", kAt17},
                                        {"mixed_1280a", "Mixed_7a", kTo8},
                                        {"mixed_2048a", "Mixed_7b", kAt8},
                                        {"mixed_2048b", "Mixed_7c", kAt8}}};

std::optional<Modules> inception_modules(std::string_view layer) {
  if (layer == "logits") return Modules{"fc"};
  if (layer == "aux/logits") return Modules{"AuxLogits.fc"};
  const auto both = [](const std::string& theirs) {
    return Modules{theirs + ".conv", theirs + ".bn"};
  };
  if (const auto stem = find(kStem, layer)) return both(std::string(*stem));
  const std::size_t slash = layer.find('/');
  const auto mixed = std::ranges::find(kMixed, layer.substr(0, slash), &Mixed::ours);
  if (slash == std::string_view::npos || mixed == kMixed.end()) return std::nullopt;
  const auto branch = find(mixed->branches, layer.substr(slash + 1));
  if (!branch) return std::nullopt;
  return both(fmt::format("{}.{}", mixed->theirs, *branch));
}

struct Map {
  std::string_view net;
  std::optional<Modules> (*modules)(std::string_view layer);
};
constexpr std::array<Map, 2> kMaps{
    {{"resnet_50", resnet_modules}, {"inception_v3", inception_modules}}};

}  // namespace

std::vector<std::string_view> torchvision_nets() {
  std::vector<std::string_view> names;
  names.reserve(kMaps.size());
  for (const Map& map : kMaps) names.push_back(map.net);
  return names;
}

std::optional<std::string> torchvision_name(std::string_view net, std::string_view tensor) {
  const auto map = std::ranges::find(kMaps, net, &Map::net);
  const std::size_t slash = tensor.rfind('/');
  if (map == kMaps.end() || slash == std::string_view::npos) return std::nullopt;
  const std::optional<Modules> modules = map->modules(tensor.substr(0, slash));
  if (!modules) return std::nullopt;
  const std::string_view kind = tensor.substr(slash + 1);
  if (const auto theirs = find(kAffineKinds, kind)) {
    return fmt::format("{}.{}", modules->affine, *theirs);
  }
  const auto theirs = find(kNormKinds, kind);
  if (!theirs || modules->norm.empty()) return std::nullopt;
  return fmt::format("{}.{}", modules->norm, *theirs);
}

}  // namespace sterna::nets
