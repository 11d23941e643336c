#include "launcher/bench/codec/captured_gradients.h"

#include "actors/local_trainer.h"
#include "input/batches/batch.h"
#include "input/batches/prepare.h"
#include "launcher/bench/data.h"

namespace sterna::launcher {

namespace {

constexpr std::uint32_t kBatch = 64;

struct Captured final : nets::GradientSink {
  explicit Captured(std::size_t count) : tensors(count) {}
  void gradient(std::size_t index, const nets::Gradient& gradient) override {
    tensors[index].assign(gradient.values.begin(), gradient.values.end());
  }
  std::vector<std::vector<float>> tensors;
};

}  // namespace

Result<std::vector<std::vector<float>>> capture_lenet_gradients(std::uint64_t steps,
                                                                const BenchProgress& progress) {
  STERNA_ASSIGN(const BenchData found, find_bench_data(progress));
  actors::JobConfig job;
  job.net = "lenet";
  job.optimizer.name = "gd";
  job.optimizer.weight_decay = 0;
  job.steps = steps + 1;
  job.batch = kBatch;
  job.ranks = 1;
  STERNA_ASSIGN(actors::LocalTrainer trainer, actors::LocalTrainer::make(job));
  input::PreparedBatch batch(found.how, kBatch);
  const nets::PixelImages images{batch.pixels, batch.levels};
  const auto show = [&](std::uint64_t step) {
    const auto rows =
        input::batch_rows({job.seed, step, 0, 1, job.batch}, found.train->facts().count);
    return input::prepare_training(*found.train, 0, rows, found.how, batch.rows());
  };
  for (std::uint64_t step = 0; step < steps; ++step) {
    STERNA_TRY(show(step));
    STERNA_TRY(trainer.step(step, images, batch.labels));
  }
  STERNA_TRY(show(steps));
  nets::Net& net = trainer.net();
  for (std::size_t i = 0; i < net.parameters().size(); ++i) net.parameters_changed(i);
  Captured captured(net.parameters().size());
  STERNA_TRY(net.train_step(images, batch.labels, captured));
  return std::move(captured.tensors);
}

}  // namespace sterna::launcher
