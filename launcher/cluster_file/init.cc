// What is wrong with [init] that shows without the weights: tensors that the net has not.
#include <fmt/format.h>

#include <algorithm>

#include "launcher/cluster_file/draft.h"
#include "launcher/text/nearest.h"
#include "nets/describe_net.h"

namespace sterna::launcher {
namespace {

/// The tensors, and what the names of several begin with.
std::vector<std::string> meaningful(const std::vector<std::string>& tensors) {
  std::vector<std::string> names;
  for (std::string name : tensors) {
    names.push_back(name);
    while (name.rfind('/') != std::string::npos) {
      name.resize(name.rfind('/'));
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// Each name must mean some tensor that is trained.
void check_names(const Draft& draft, const ClusterFile& file, std::string_view key,
                 const std::vector<std::string>& names, Problems& problems) {
  if (names.empty()) return;
  const std::vector<std::string> tensors = trained_tensors(file);
  if (tensors.empty()) return;
  for (const std::string& name : names) {
    if (std::ranges::any_of(tensors, [&](const auto& one) { return actors::means(name, one); })) {
      continue;
    }
    std::string advice = did_you_mean(name, meaningful(tensors));
    if (advice.empty()) advice = fmt::format("; sterna net show {} lists them", file.job.net);
    problems.add(draft.where(fmt::format("init.{}", key)),
                 fmt::format("\"init.{}\": {} has no tensor \"{}\", nor any that begin with "
                             "\"{}/\"{}",
                             key, file.job.net, name, name, advice));
  }
}

}  // namespace

std::vector<std::string> trained_tensors(const ClusterFile& file) {
  const nets::ZooNet* net = nets::find_net(file.job.net);
  if (net == nullptr) return {};
  // What they are called does not depend on the images.
  const auto what = nets::describe_net({.name = file.job.net,
                                        .images = net->usual,
                                        .hidden = file.job.hidden,
                                        .batch = 1,
                                        .bn_scale = file.net_choices.bn_scale});
  std::vector<std::string> names;
  for (std::size_t i = 0; what && i < what->trained; ++i) names.push_back(what->parameters[i].name);
  return names;
}

void check_init(const Draft& draft, const ClusterFile& file, Problems& problems) {
  const actors::InitSection& init = file.init;
  const auto wrong = [&](std::string_view key, const std::string& what) {
    problems.add(draft.where(fmt::format("init.{}", key)), what);
  };
  const bool torchvision = init.names == actors::kTorchvisionNames;
  for (const auto& [key, given] : {std::pair{"skip", !init.skip.empty()}, {"names", torchvision}}) {
    if (!given || !init.from.empty()) continue;
    wrong(key, fmt::format("\"init.{}\" is for \"init.from\", which is missing", key));
  }
  check_names(draft, file, "skip", init.skip, problems);
  check_names(draft, file, "train_only", init.train_only, problems);
  const auto& net = file.net_choices;
  if (torchvision && file.job.net == "inception_v3" && !(net.bn_scale && net.pool_padding)) {
    wrong("names",
          "torchvision's inception_v3 has factors in its batch norms and counts the padding of its "
          "average pools: set \"net.bn_scale\" and \"net.pool_padding\" to true");
  }
}

}  // namespace sterna::launcher
