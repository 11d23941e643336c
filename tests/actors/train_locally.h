// A job without actors: what one rank without a codec must come to.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "actors/evaluator/evaluation.h"
#include "actors/local_trainer.h"
#include "actors/reader/preparation.h"
#include "input/batches/batch.h"
#include "input/batches/prepare.h"
#include "input/formats/idx.h"

namespace sterna::actors {

/// The parameters' hash after all steps of `job` in a LocalTrainer, on `device` or, null, on the
/// CPU.
inline Result<std::string> train_locally(const JobConfig& job,
                                         std::shared_ptr<kernels::Device> device = nullptr) {
  STERNA_ASSIGN(LocalTrainer trainer, LocalTrainer::make(job, std::move(device)));
  STERNA_ASSIGN(const input::Dataset images, input::load_mnist(job.data.dir, input::Split::train));
  const input::MemorySource source(images);
  STERNA_ASSIGN(const input::Preparation how,
                preparation_of(job, source.facts(), source.facts().count));
  input::PreparedBatch batch(how, job.batch);
  for (std::uint64_t step = 0; step < job.steps; ++step) {
    const auto rows = input::batch_rows({job.seed, step, 0, 1, job.batch}, images.count);
    STERNA_TRY(input::prepare_training(source, 0, rows, how, batch.rows()));
    STERNA_TRY(trainer.step(step, {batch.pixels, batch.levels}, batch.labels));
  }
  return parameters_sha256(trainer.net());
}

}  // namespace sterna::actors
