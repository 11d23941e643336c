// Labels of a data set with 1,001 classes, as ImageNet has in TernGrad's nets: from the data set
// through an input reader's answer and its frames to the loss, and to the evaluation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "actors/evaluator/evaluation.h"
#include "actors/reader/batch_parts.h"
#include "nets/layers/layers.h"
#include "tests/actors/round_trip.h"

namespace sterna::actors {
namespace {

constexpr std::size_t kClasses = 1001;
constexpr std::uint32_t kBatch = 500;

/// Each class twice; images of two pixels.
input::TrainingPart examples() {
  input::TrainingPart part;
  part.examples = 2 * kClasses;
  part.range = {0, part.examples};
  input::Dataset dataset{.count = part.examples,
                         .rows = 1,
                         .columns = 2,
                         .classes = kClasses,
                         .images = {},
                         .labels = {}};
  for (std::size_t i = 0; i < part.examples; ++i)
    dataset.labels.push_back(static_cast<std::uint16_t>(i % kClasses));
  dataset.images.resize(part.examples * dataset.image_size());
  part.source = std::make_shared<const input::MemorySource>(std::move(dataset));
  return part;
}

input::Preparation as_they_are() {
  return {.family = input::find_family("mnist"), .options = {.shape = {1, 2, 1}}};
}

/// One layer, whose parameters are 0: every class is as likely as the others.
std::unique_ptr<nets::Net> even_net() {
  return nets::make_net(
             {.name = "even", .batch = kBatch},
             [](nets::Graph& graph) -> nets::NetOutputs {
               nets::Activation& x = graph.input({kBatch, 1, 1, 2}, nets::Layout::row_major);
               return {nets::dense(graph, x, {.name = "logits", .outputs = kClasses})};
             })
      .value();
}

struct BiasGradient final : nets::GradientSink {
  void gradient(std::size_t index, const nets::Gradient& gradient) override {
    if (index == 1) biases.assign(gradient.values.begin(), gradient.values.end());
  }
  std::vector<float> biases;
};

TEST(Labels, OfAThousandAndOneClassesReachTheLoss) {
  const input::TrainingPart part = examples();
  const input::BatchQuestion question{.seed = 1, .step = 2, .rank = 0, .ranks = 1, .batch = kBatch};
  BufferPool pool;
  const Result<Batch> batch =
      round_trip(rows_of(question, own_rows(question, part), part, as_they_are(), pool).value());
  ASSERT_TRUE(batch.ok()) << batch.error().message;
  std::vector<float> times(kClasses);  // that each class is in the batch
  for (const std::uint64_t index : input::batch_indices(question, part.examples))
    ++times[index % kClasses];

  const auto net = even_net();
  const std::vector<float> levels = levels_of(*batch);
  const nets::PixelImages images{
      {reinterpret_cast<const std::uint8_t*>(batch->pixels.data()), batch->pixels.size()}, levels};
  BiasGradient sink;
  const auto loss = net->train_step(images, labels_of(*batch), sink);
  ASSERT_TRUE(loss.ok()) << loss.error().message;
  EXPECT_NEAR(loss->cross_entropy, std::log(1001.0), 1e-5);
  // By a bias: softmax - onehot, the mean over the batch.
  for (std::size_t k = 0; k < kClasses; ++k)
    EXPECT_NEAR(sink.biases[k], 1.0 / kClasses - times[k] / kBatch, 1e-7) << "class " << k;
}

TEST(Labels, BeyondTheNetsClassesAreRefusedByName) {
  const auto net = even_net();
  std::vector<std::uint16_t> labels(kBatch);
  labels[7] = kClasses;
  BiasGradient sink;
  const auto loss = net->train_step(std::vector<float>(2 * kBatch), labels, sink);
  ASSERT_FALSE(loss.ok());
  EXPECT_THAT(loss.error().message, testing::HasSubstr("label 1001 of image 7"));
}

TEST(Labels, AboveAByteAreEvaluatedAsTheyAre) {
  const auto net = even_net();
  net->parameter(1)[1000] = 1;  // the answer to everything
  net->parameters_changed(1);
  const auto evaluation = evaluate(*net, *examples().source, as_they_are(), 2 * kClasses);
  ASSERT_TRUE(evaluation.ok()) << evaluation.error().message;
  EXPECT_DOUBLE_EQ(evaluation->precision_at_1, 1.0 / kClasses);
}

}  // namespace
}  // namespace sterna::actors
