// Every layer: a function that adds it to a graph and returns its output. Each is made in a file of
// its name, where its class is private.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nets/graph/graph.h"
#include "nets/tensor/window.h"

namespace sterna::nets {

/// What a layer with weights and biases adds to the table of parameters: "NAME/weights" and
/// "NAME/biases". Biases never decay.
struct AffineOptions {
  std::string name;
  std::size_t outputs = 0;    ///< channels or units
  float stddev = 0;           ///< of the weights' truncated normal
  float limit = 0;            ///< of the weights' uniform distribution, where stddev is 0
  float bias = 0;             ///< what biases start as
  bool biases = true;         ///< else it has weights only
  bool decay = true;          ///< weight decay on the weights
  bool whole_normal = false;  ///< the weights' normal is not truncated
  bool logits = false;        ///< marks both: the output is the net's logits
};

/// Of {N, C, H, W} channels last. Several `groups` split the channels of x and of the output
/// evenly.
Activation& convolution(Graph& graph, Activation& x, const AffineOptions& options,
                        const Window& window, std::size_t groups = 1);
/// Fully connected. Whatever follows N in x's shape is one row of inputs, in the order in which it
/// lies.
Activation& dense(Graph& graph, Activation& x, const AffineOptions& options);
/// Of {N, C, H, W} channels last.
Activation& max_pool(Graph& graph, Activation& x, const Window& window);
/// Of {N, C, H, W} channels last. Padding does not count, unless `counts_padding`: then as zeros.
Activation& average_pool(Graph& graph, Activation& x, const Window& window,
                         bool counts_padding = false);
/// In place, unless `x` has other readers.
Activation& relu(Graph& graph, Activation& x);
Activation& sigmoid(Graph& graph, Activation& x);

struct BatchNormOptions {
  std::string name;
  float epsilon = 0.001F;
  float decay = 0.9997F;  ///< of the moving mean and variance
  bool scale = false;     ///< with a factor for each channel
  bool relu = false;      ///< followed by one, in the same pass over memory
};
/// Of {N, C, H, W} channels last. Adds "NAME/beta", "NAME/gamma" where it scales, and the
/// statistics "NAME/mean" and "NAME/variance": training normalizes by the batch's own and hands
/// them out as if they were gradients, evaluation by the moving ones.
Activation& batch_norm(Graph& graph, Activation& x, const BatchNormOptions& options);

/// Local response normalization: see LrnSpec, whose input is x.
struct LrnOptions {
  std::size_t radius = 0;
  float bias = 1;
  float alpha = 0;
  float beta = 0;
};
Activation& lrn(Graph& graph, Activation& x, const LrnOptions& options);

/// In training each element is kept with the probability `keep` and then divided by it, else 0
/// (Srivastava et al., 2014); in evaluation nothing happens. Which are kept is Philox's stream
/// `dropout`, mapped as the trits of a tensor (kernels/trits/TRITS.md): of step and rank, with the
/// number of the graph's dropout layer as the tensor, and the element's index in the rank's whole
/// batch as it lies in memory.
Activation& dropout(Graph& graph, Activation& x, float keep);

/// Along the channels: {N, C1 + C2 + …, H, W} channels last.
Activation& concat(Graph& graph, const std::vector<Activation*>& x);
/// Every stride-th pixel in both directions, and channels of zeros behind those of x: the shortcut
/// without parameters of He et al., "Deep residual learning", 2015 (option A).
Activation& subsample(Graph& graph, Activation& x, std::size_t channels, std::size_t stride);
/// Element by element; both of one shape.
Activation& add(Graph& graph, Activation& a, Activation& b);
/// max(0, a + b), with the same bits as a relu behind a sum, in one pass over memory.
Activation& rectified_sum(Graph& graph, Activation& a, Activation& b);
/// {N, C, H, W} channels last to row-major {N, C·H·W}: a unit's weights lie in the order channel,
/// row, column, whatever the layout of activations.
Activation& flatten(Graph& graph, Activation& x);

}  // namespace sterna::nets
