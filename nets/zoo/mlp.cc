#include "nets/zoo/mlp.h"

#include <cmath>
#include <string>

namespace sterna::nets {
namespace {

constexpr std::size_t pixels = std::size_t{28} * 28;
constexpr std::size_t classes = 10;

AffineSpec dense(std::string name, std::size_t inputs, std::size_t outputs) {
  return {.name = std::move(name),
          .outputs = outputs,
          .stddev = static_cast<float>(std::sqrt(3.0 / static_cast<double>(inputs + outputs)))};
}

}  // namespace

Activation& build_mlp(Graph& graph, std::size_t batch, std::span<const std::uint32_t> hidden) {
  Activation* x = &graph.input({batch, 1, 28, 28}, Layout::row_major);
  std::size_t inputs = pixels;
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const AffineSpec layer = dense("fc" + std::to_string(i + 1), inputs, hidden[i]);
    x = &graph.relu(graph.inner_product(*x, layer));
    inputs = hidden[i];
  }
  return graph.inner_product(*x, dense("logits", inputs, classes));
}

}  // namespace sterna::nets
