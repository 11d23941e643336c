#include "actors/input_reader.h"

#include <fmt/format.h>

#include "actors/data_folder.h"
#include "input/batch.h"
#include "input/idx.h"
#include "input/preprocess.h"

namespace sterna::actors {
namespace {

/// A rank asks a few steps ahead; more at once is no worker of ours, and would fill the memory.
constexpr std::uint32_t kMostAhead = 16;

using Loaded = Result<std::shared_ptr<const input::Dataset>>;

Loaded load_training_set(const DataConfig& data) {
  STERNA_ASSIGN(const std::string folder, data_folder(data));
  STERNA_ASSIGN(input::Dataset dataset, input::load_mnist(folder, input::Split::train));
  if (dataset.count == 0) return Error{Errc::malformed, folder + ": no training examples"};
  return Loaded(std::make_shared<const input::Dataset>(std::move(dataset)));
}

Batch make_batch(const input::Dataset& dataset, const input::BatchQuestion& question,
                 BufferPool& pool) {
  const std::vector<std::uint64_t> indices = input::batch_indices(question, dataset.count);
  const auto images = pool.take(indices.size() * dataset.image_size() * sizeof(float));
  const auto labels = pool.take(indices.size());
  input::gather(dataset, indices, images->as<float>(), labels->as<std::uint8_t>());
  return {.step = question.step,
          .rank = question.rank,
          .images = share(images),
          .labels = share(labels)};
}

}  // namespace

void InputReader::started() {
  answering_.resize(args_.job.ranks);
  run(load());
}

Task<void> InputReader::load() {
  auto read = compute([data = args_.job.data] { return load_training_set(data); });
  Loaded dataset = co_await std::move(read);
  if (!dataset) {
    fail(dataset.error().message);
    co_return;
  }
  dataset_ = std::move(dataset).value();
  loaded_.notify_all();
}

Task<Result<Batch>> InputReader::on(NextBatch question) {
  const JobConfig& job = args_.job;
  if (question.rank >= job.ranks || question.step >= job.steps) {
    co_return Error{Errc::invalid_argument,
                    fmt::format("no batch for rank {} of {} at step {} of {}", question.rank,
                                job.ranks, question.step, job.steps)};
  }
  const PeerIdentity* peer = process().identity_of(sender().process);
  const bool ours = sender().process == process().id();
  if (!ours && (peer == nullptr || !hosts(args_.workers, peer->name, question.rank))) {
    process().blame_sender(fmt::format("it asked for the batch of rank {}", question.rank));
    co_return Error{Errc::permission, "a worker gets the batches of its own ranks"};
  }
  std::uint32_t& answering = answering_[question.rank];
  if (answering >= kMostAhead) {
    co_return Error{Errc::overloaded,
                    fmt::format("rank {} asks for too many batches at once", question.rank)};
  }
  // Also when the asker dies meanwhile and this frame is destroyed.
  struct Answering {
    std::uint32_t& count;
    explicit Answering(std::uint32_t& answers) : count(answers) { ++count; }
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;
    ~Answering() { --count; }
  } const counted(answering);
  while (!dataset_) co_await loaded_.wait();
  const input::BatchQuestion which{.seed = job.seed,
                                   .step = question.step,
                                   .rank = question.rank,
                                   .ranks = job.ranks,
                                   .batch = job.batch};
  auto made = compute(
      [dataset = dataset_, pool = pool_, which] { return make_batch(*dataset, which, *pool); });
  co_return co_await std::move(made);
}

}  // namespace sterna::actors
