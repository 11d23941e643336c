#include "actors/evaluator/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sterna::actors {
namespace {

/// Ten images, of which three have label 3; and a net that has not learnt anything.
class EvaluationTest : public testing::Test {
 protected:
  EvaluationTest() {
    dataset.count = 10;
    dataset.rows = dataset.columns = 28;
    dataset.classes = 10;
    dataset.images.resize(10 * 28 * 28, 100);
    dataset.labels = {3, 1, 3, 1, 2, 1, 1, 1, 1, 3};
    net = nets::make_net({.name = "mlp", .hidden = {4}, .batch = 4}).value();
  }
  /// The logits' bias of class 3.
  float& bias() { return net->parameter(net->parameters().size() - 1)[3]; }
  Evaluation of(std::uint64_t examples) {
    for (std::size_t i = 0; i < net->parameters().size(); ++i) net->parameters_changed(i);
    return evaluate(*net, input::MemorySource(dataset), how, examples).value();
  }

  input::Dataset dataset;
  const input::Preparation how{.family = input::find_family("mnist"),
                               .options = {.shape = {28, 28, 1}}};
  std::unique_ptr<nets::Net> net;
};

TEST_F(EvaluationTest, TheClassWithTheLargestLogitIsTheAnswer) {
  bias() = 1;
  EXPECT_EQ(of(10).precision_at_1, 0.3);
  EXPECT_EQ(of(1000).examples, 10U);
}

TEST_F(EvaluationTest, ASubsetIsEverySoManyth) {
  bias() = 1;
  const Evaluation half = of(5);  // labels 3, 3, 2, 1, 1
  EXPECT_EQ(half.examples, 5U);
  EXPECT_EQ(half.precision_at_1, 0.4);
}

TEST_F(EvaluationTest, ASubsetOfMoreThanHalfIsSpreadOverAllToo) {
  bias() = 1;
  const Evaluation most = of(6);  // examples 0, 1, 3, 5, 6, 8: labels 3, 1, 1, 1, 1, 1
  EXPECT_EQ(most.examples, 6U);
  EXPECT_EQ(most.precision_at_1, 1.0 / 6);
}

TEST_F(EvaluationTest, ATieIsNoAnswerAndNorIsWhatIsNotFinite) {
  const Evaluation tie = of(10);
  EXPECT_EQ(tie.precision_at_1, 0);
  EXPECT_NEAR(tie.loss, std::log(10.0), 1e-6);
  bias() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(of(10).precision_at_1, 0);
}

TEST_F(EvaluationTest, WithoutExamplesThereIsNone) {
  dataset.count = 0;
  EXPECT_FALSE(evaluate(*net, input::MemorySource(dataset), how, 1).ok());
}

TEST_F(EvaluationTest, TheHashIsOfAllParameters) {
  const std::string before = parameters_sha256(*net);
  EXPECT_EQ(before.size(), 64U);
  bias() = 1;
  EXPECT_NE(parameters_sha256(*net), before);
  bias() = 0;
  EXPECT_EQ(parameters_sha256(*net), before);
}

}  // namespace
}  // namespace sterna::actors
