#include "nets/zoo/fixed_gradients.h"

#include <fmt/format.h>

#include <algorithm>

namespace sterna::nets {
namespace {

constexpr std::size_t classes = 10;
constexpr std::size_t elements_per_size = 1024;
constexpr float gradient_stddev = 1e-3F;

Activation& build(Graph& graph, std::size_t batch, std::span<const std::uint32_t> sizes,
                  const Pace& pace) {
  Activation& images = graph.input({batch, 1, 28, 28}, Layout::row_major);
  Activation& logits =
      graph.inner_product(images, {.name = "logits", .outputs = classes, .stddev = 0.05F});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    graph.fixed_gradient({.name = fmt::format("fixed{}", i),
                          .shape = {sizes[i] * elements_per_size},
                          .role = Role::weight,
                          .decay = false,
                          .stddev = 0,
                          .constant = 0},
                         gradient_stddev, pace);
  }
  return logits;
}

}  // namespace

Activation& build_exchange(Graph& graph, std::size_t batch, std::span<const std::uint32_t> sizes) {
  return build(graph, batch, sizes, {});
}

Activation& build_paced_exchange(Graph& graph, std::size_t batch,
                                 std::span<const std::uint32_t> sizes) {
  const auto tensors = static_cast<std::int64_t>(std::max<std::size_t>(1, sizes.size()));
  return build(graph, batch, sizes,
               {std::chrono::nanoseconds(kPacedForward) / tensors,
                std::chrono::nanoseconds(kPacedBackward) / tensors});
}

}  // namespace sterna::nets
