#include "nets/layers/loss_head.h"

#include <gtest/gtest.h>

#include "tests/nets/graph_fixture.h"

namespace sterna::nets {
namespace {

TEST(LossHead, GivesTheLossAndItsGradientByTheLogits) {
  SeededRandom random(1);
  const std::vector<std::uint16_t> labels{1000, 0, 256};
  const auto engine = backend();
  Graph graph(*engine);
  Activation& input = graph.input({3, 1001}, Layout::row_major);
  Activation& logits = scale(graph, input, 1);
  LossHead& head = loss_head(graph, logits);
  EXPECT_EQ(head.classes(), 1001U);
  const Values z = randomize(input.value(), random);
  head.set_labels(labels);
  pass(graph);
  Values gradient;
  EXPECT_NEAR(head.loss(), reference::cross_entropy(z, labels, &gradient), 1e-5);
  expect_near(gradient, row_major(logits.gradient()), "dlogits");
}

}  // namespace
}  // namespace sterna::nets
