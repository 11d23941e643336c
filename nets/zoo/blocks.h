// What several nets are built of. Internal to this room.
#pragma once

#include <cstddef>
#include <string>

#include "nets/layers/layers.h"
#include "nets/zoo/zoo.h"

namespace sterna::nets {

/// Convolutions with batch norm and without biases, as one net has them.
struct NormedConvolutions {
  Graph& graph;
  const ZooOptions& options;
  float stddev = 0;          ///< of weights; 0: Xavier's uniform
  float bn_decay = 0.9997F;  ///< the original's
  float epsilon = 0.001F;
  bool bn_scale = false;  ///< the original's

  /// Followed by a ReLU where wanted; `outputs` are the original's.
  Activation& operator()(Activation& x, const std::string& name, std::size_t outputs,
                         const Window& window, bool relu = true) const;
};

/// A dense layer, a ReLU and dropout.
Activation& connected(Graph& graph, Activation& x, const AffineOptions& layer, float keep);

/// Xavier's limit of a uniform distribution (Glorot and Bengio, 2010).
float xavier(std::size_t inputs, std::size_t outputs);

/// Of all that is left of the image: {N, C, 1, 1}.
Activation& global_average(Graph& graph, Activation& x);

/// The units of a dense layer that reads x.
inline std::size_t units(Activation& x) { return x.value().size() / x.shape()[0]; }

inline constexpr Window square(std::size_t kernel, std::size_t stride = 1,
                               Padding padding = Padding::same) {
  return {.kernel = kernel, .stride = stride, .padding = padding};
}
/// With so many pixels of padding on each side.
inline constexpr Window padded(std::size_t kernel, std::size_t stride, std::size_t pad) {
  return {.kernel = kernel, .stride = stride, .padding = Padding::given, .pad = pad};
}
inline constexpr Window oblong(std::size_t height, std::size_t width) {
  return {.kernel = height, .width = width};
}

}  // namespace sterna::nets
