// Every layer: a function that adds it to a graph and returns its output. Each is made in a file of
// its name, where its class is private.
#pragma once

#include <cstddef>
#include <string>

#include "nets/graph/graph.h"
#include "nets/tensor/window.h"

namespace sterna::nets {

/// What a layer with weights and biases adds to the table of parameters: "NAME/weights" and
/// "NAME/biases". Biases never decay.
struct AffineOptions {
  std::string name;
  std::size_t outputs = 0;  ///< channels or units
  float stddev = 0;         ///< of the weights' truncated normal
  float bias = 0;           ///< what biases start as
  bool decay = true;        ///< weight decay on the weights
  bool logits = false;      ///< marks both: the output is the net's logits
};

/// Of {N, C, H, W} channels last.
Activation& convolution(Graph& graph, Activation& x, const AffineOptions& options,
                        const Window& window);
/// Fully connected. Of {N, …} row-major: whatever follows N is one row of inputs.
Activation& dense(Graph& graph, Activation& x, const AffineOptions& options);
/// Of {N, C, H, W} channels last.
Activation& max_pool(Graph& graph, Activation& x, const Window& window);
/// In place, unless `x` has other readers.
Activation& relu(Graph& graph, Activation& x);
/// {N, C, H, W} channels last to row-major {N, C·H·W}: a unit's weights lie in the order channel,
/// row, column, whatever the layout of activations.
Activation& flatten(Graph& graph, Activation& x);

}  // namespace sterna::nets
