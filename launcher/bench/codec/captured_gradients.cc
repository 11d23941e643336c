#include "launcher/bench/codec/captured_gradients.h"

#include "actors/local_trainer.h"
#include "input/batches/batch.h"
#include "input/batches/preprocess.h"
#include "launcher/bench/data.h"

namespace sterna::launcher {

namespace {

constexpr std::uint32_t kBatch = 64;

struct Captured final : nets::GradientSink {
  explicit Captured(std::size_t count) : tensors(count) {}
  void gradient(std::size_t index, std::span<const float> values) override {
    tensors[index].assign(values.begin(), values.end());
  }
  std::vector<std::vector<float>> tensors;
};

}  // namespace

Result<std::vector<std::vector<float>>> capture_lenet_gradients(std::uint64_t steps,
                                                                const BenchProgress& progress) {
  STERNA_ASSIGN(const BenchData found, find_bench_data(progress));
  const input::Dataset& data = found.train;
  actors::JobConfig job;
  job.net = "lenet";
  job.optimizer.name = "gd";
  job.optimizer.weight_decay = 0;
  job.steps = steps + 1;
  job.batch = kBatch;
  job.ranks = 1;
  STERNA_ASSIGN(actors::LocalTrainer trainer, actors::LocalTrainer::make(job));
  std::vector<float> images(kBatch * data.image_size());
  std::vector<std::uint16_t> labels(kBatch);
  const auto show = [&](std::uint64_t step) {
    input::gather(data, input::batch_indices({job.seed, step, 0, 1, job.batch}, data.count), images,
                  labels);
  };
  for (std::uint64_t step = 0; step < steps; ++step) {
    show(step);
    STERNA_TRY(trainer.step(step, images, labels));
  }
  show(steps);
  nets::Net& net = trainer.net();
  for (std::size_t i = 0; i < net.parameters().size(); ++i) net.parameters_changed(i);
  Captured captured(net.parameters().size());
  STERNA_TRY(net.train_step(images, labels, captured));
  return std::move(captured.tensors);
}

}  // namespace sterna::launcher
