// The nets there are: each is described in a file of its own, with a line in zoo.cc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sterna::nets {

class Activation;
class Graph;

/// What a net is built for: images of rows x columns pixels of so many bytes, and their classes.
struct ImageClasses {
  std::size_t rows = 28;
  std::size_t columns = 28;
  std::size_t channels = 1;
  std::size_t classes = 10;
  /// Of one image.
  std::size_t values() const { return rows * columns * channels; }
};

/// What a net is made of beside its own table.
struct ZooOptions {
  std::size_t batch = 1;
  ImageClasses images = {};
  std::span<const std::uint32_t> hidden = {};  ///< of nets that take them
  float keep = 0.5F;      ///< the part of the units that dropout keeps; 1: there is none
  bool bn_scale = false;  ///< batch norm has a factor for each channel where the original has none
  bool pool_padding = false;  ///< average pools count the padding, where the original's do not
  float bn_decay = 0;         ///< of its moving statistics; 0: the original's
  std::size_t divisor = 1;    ///< of all channels: for tests, which need small nets

  std::size_t channels(std::size_t original) const {
    return std::max<std::size_t>(1, original / divisor);
  }
};

/// {batch, classes} each.
struct NetOutputs {
  Activation& logits;
  Activation* auxiliary = nullptr;  ///< of a second head that only training has
  float auxiliary_weight = 0;       ///< of its cross-entropy in the loss
  /// Set: the loss is the mean of (logit - target)², whatever the labels, not the cross-entropy.
  std::optional<float> target = std::nullopt;
};

inline constexpr ImageClasses kImageNet{224, 224, 3, 1000};

struct ZooNet {
  const char* name;
  /// Adds the net for a batch of images to an empty graph, the input channels last.
  NetOutputs (*build)(Graph& graph, const ZooOptions& options);
  /// Whether NetOptions::hidden says how wide its hidden layers are, and how wide they are in a job
  /// that does not say.
  bool takes_hidden = false;
  std::span<const std::uint32_t> hidden = {};
  ImageClasses usual = {};    ///< what the original takes
  std::size_t smallest = 1;   ///< rows and columns of the smallest images that it can take
  float label_smoothing = 0;  ///< the original's
  std::size_t classes = 0;    ///< that it must be made for; 0: any
};

/// The input of a net for batches of such images.
Activation& images_input(Graph& graph, const ZooOptions& options);

/// Null: none is called so. Also finds nets that are only for measuring.
const ZooNet* find_net(std::string_view name);

/// TernGrad's nets and the usual ones, which all learn any pictures.
std::vector<std::string_view> net_names();
/// These, and what other guides train to show something: all that a job may name.
std::vector<std::string_view> trainable_names();

}  // namespace sterna::nets
