#include "actors/evaluator/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

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

TEST_F(EvaluationTest, CountsWhatIsTakenForWhatAndATieForNothing) {
  bias() = 1;
  EXPECT_EQ(of(10).confusion, (std::vector<ConfusionCell>{{1, 3, 6}, {2, 3, 1}, {3, 3, 3}}));
  bias() = 0;
  EXPECT_EQ(of(10).confusion, (std::vector<ConfusionCell>{{1, 10, 6}, {2, 10, 1}, {3, 10, 3}}));
}

TEST_F(EvaluationTest, RecallsALabelThatIsAmongTheFiveLargest) {
  const std::span<float> biases = net->parameter(net->parameters().size() - 1);
  for (const std::size_t c : {0U, 4U, 5U, 6U}) biases[c] = 1;
  EXPECT_EQ(of(10).recall_at_5, 0) << "1, 2 and 3 tie with three others for the fifth place";
  bias() = 0.5F;
  EXPECT_EQ(of(10).recall_at_5, 0.3);
  EXPECT_EQ(of(10).precision_at_1, 0);
}

TEST_F(EvaluationTest, NetsOfVeryManyClassesHaveNoConfusion) {
  const auto cells_of = [&](std::uint32_t classes) {
    net = nets::make_net({.name = "mlp",
                          .images = {28, 28, 1, classes},
                          .hidden = {4},
                          .batch = 4,
                          .trains = false})
              .value();
    return of(10).confusion.size();
  };
  EXPECT_EQ(cells_of(kMostConfusedClasses), 3U);
  EXPECT_EQ(cells_of(kMostConfusedClasses + 1), 0U);
}

TEST(AnswerOf, ALabelIsRecalledWhereFewerThanFiveOthersAreAsLarge) {
  const std::vector<float> logits = {6, 5, 4, 3, 2, 1};
  EXPECT_EQ(answer_of(logits, 0).chosen, 0U);
  EXPECT_TRUE(answer_of(logits, 4).recalled);
  EXPECT_FALSE(answer_of(logits, 5).recalled);
  EXPECT_FALSE(answer_of(std::vector<float>{6, 5, 4, 3, 2, 2}, 4).recalled);
  EXPECT_TRUE(answer_of(std::vector<float>{6, 6, 6, 6, 2, 1}, 4).recalled);
}

TEST(AnswerOf, OfFiveClassesOrFewerEachIsRecalledUnlessALogitIsNotFinite) {
  const std::vector<float> same(5, 1.0F);
  EXPECT_TRUE(answer_of(same, 3).recalled);
  EXPECT_EQ(answer_of(same, 3).chosen, 5U) << "nobody is the largest";
  std::vector<float> infinite = same;
  infinite[0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(answer_of(infinite, 3).recalled);
  EXPECT_EQ(answer_of(infinite, 0).chosen, 5U);
}

/// Examples of which some cannot be read.
class TornSource final : public input::Source {
 public:
  TornSource(input::Dataset dataset, std::set<std::uint64_t> torn)
      : whole_(std::move(dataset)), torn_(std::move(torn)) {}
  const input::SourceFacts& facts() const override { return whole_.facts(); }
  Result<input::StoredExample> read(std::uint64_t index) const override {
    if (!torn_.contains(index)) return whole_.read(index);
    return Error{Errc::malformed, "picture " + std::to_string(index) + ": torn"};
  }

 private:
  input::MemorySource whole_;
  std::set<std::uint64_t> torn_;
};

TEST_F(EvaluationTest, ADamagedExampleIsInNoCountAndNoOtherCountsForIt) {
  bias() = 1;
  for (std::size_t i = 0; i < net->parameters().size(); ++i) net->parameters_changed(i);
  input::Preparation lenient = how;
  lenient.bad = std::make_shared<input::BadExamples>(10, 1);
  // All of the second batch, and the first of the first.
  const TornSource torn(dataset, {0, 4, 5, 6, 7});
  const auto found = evaluate(*net, torn, lenient, 10);  // labels 1, 3, 1, 1, 3
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->examples, 5U);
  EXPECT_EQ(found->left_out, 5U);
  EXPECT_EQ(found->damage, "picture 0: torn");
  EXPECT_EQ(found->precision_at_1, 0.4);
  EXPECT_EQ(found->confusion, (std::vector<ConfusionCell>{{1, 3, 3}, {3, 3, 2}}));
  // A mean of log(9 + e) less 1 where the label is 3.
  EXPECT_NEAR(found->loss, std::log(9 + std::exp(1.0)) - 0.4, 1e-6);
  const auto again = evaluate(*net, torn, lenient, 10);
  EXPECT_EQ(again.value().left_out, 5U) << "as often as it is evaluated";
}

TEST_F(EvaluationTest, OfDamagedExamplesAloneThereIsNone) {
  input::Preparation lenient = how;
  lenient.bad = std::make_shared<input::BadExamples>(10, 1);
  dataset.count = 2;
  const auto none = evaluate(*net, TornSource(dataset, {0, 1}), lenient, 10);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message,
            "all 2 examples to evaluate are damaged, such as picture 0: torn");
}

TEST_F(EvaluationTest, WithoutExamplesThereIsNone) {
  dataset.count = 0;
  EXPECT_FALSE(evaluate(*net, input::MemorySource(dataset), how, 1).ok());
}

TEST_F(EvaluationTest, TheHashIsOfAllParameters) {
  const std::string before = parameters_sha256(*net).value();
  EXPECT_EQ(before.size(), 64U);
  bias() = 1;
  EXPECT_NE(parameters_sha256(*net).value(), before);
  bias() = 0;
  EXPECT_EQ(parameters_sha256(*net).value(), before);
}

}  // namespace
}  // namespace sterna::actors
