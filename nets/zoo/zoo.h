// The nets there are: each is described in a file of its own, with a line in zoo.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sterna::nets {

class Activation;
class Graph;

struct ZooNet {
  const char* name;
  /// Adds the net for a batch of images to an empty graph and returns the logits {batch, classes}.
  Activation& (*build)(Graph& graph, std::size_t batch, std::span<const std::uint32_t> hidden);
  /// Whether NetOptions::hidden says how wide its hidden layers are, and how wide they are in a job
  /// that does not say.
  bool takes_hidden = false;
  std::span<const std::uint32_t> hidden = {};
};

/// Null: none is called so. Also finds nets that are only for measuring.
const ZooNet* find_net(std::string_view name);

/// The nets that a user may choose.
std::vector<std::string_view> net_names();

}  // namespace sterna::nets
