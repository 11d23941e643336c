#include "actors/reader/input_reader.h"

#include <fmt/format.h>

#include <optional>

#include "actors/reader/batch_parts.h"
#include "actors/reader/data_folder.h"
#include "actors/reader/preparation.h"
#include "input/batches/batch.h"

namespace sterna::actors {
namespace {

/// Batches: a rank asks a few steps ahead; more at once is no worker of ours, and would fill the
/// memory.
constexpr std::uint64_t kMostAhead = 16;

static_assert(kMostShards == input::kMostShards);

std::optional<input::ShardId> shard_of(const ReaderArgs& args) {
  const std::uint32_t shards = args.job.shards;
  if (shards == 0) return std::nullopt;
  return input::ShardId{args.shard, shards};
}

}  // namespace

Result<std::shared_ptr<const InputReader::Examples>> InputReader::load_examples(
    const JobConfig& job, const std::optional<input::ShardId>& shard) {
  STERNA_ASSIGN(const std::string folder, training_folder(job.data, shard));
  auto examples = std::make_shared<Examples>();
  STERNA_ASSIGN(examples->part,
                input::load_training_part(folder, shard, data_options(job.data, job.seed)));
  STERNA_ASSIGN(examples->how,
                preparation_of(job, examples->part.source->facts(), examples->part.range.count()));
  return std::shared_ptr<const Examples>(std::move(examples));
}

void InputReader::started() {
  start_trace(process(), args_.job.trace);
  tracer_ = process().tracer();
  answering_.resize(args_.job.ranks);
  const std::uint64_t most = args_.job.data.memory.count;
  pool_ = std::make_shared<BufferPool>(most == 0 ? SIZE_MAX : most);
  memory_.emplace(poster(), most == 0 ? UINT64_MAX : most);
  run(load());
  if (!args_.observer.empty()) run(find_observer());
}

Task<Result<void>> InputReader::find_observer() {
  observer_.emplace(*this, args_.observer, args_.job.deadlines.start, finder_);
  STERNA_CO_TRY(observer_->find());
  observed_ = true;
  co_return {};
}

Task<Result<void>> InputReader::load() {
  STERNA_CO_ASSIGN(examples_, compute([job = args_.job, shard = shard_of(args_)] {
                     return load_examples(job, shard);
                   }));
  loaded_.notify_all();
  co_return {};
}

Task<Result<Batch>> InputReader::on(NextBatch question) {
  const JobConfig& job = args_.job;
  if (question.rank >= job.ranks || question.step < job.first_own_step() ||
      question.step >= job.end_of_steps()) {
    co_return Error{Errc::invalid_argument,
                    fmt::format("no batch for rank {} of {} at step {} of {}", question.rank,
                                job.ranks, question.step, job.end_of_steps())};
  }
  const input::BatchQuestion which = question_of(job, question);
  if (question.first_row >= job.batch || question.rows > job.batch - question.first_row) {
    co_return Error{Errc::invalid_argument,
                    fmt::format("no rows {} to {} in a batch of {}", question.first_row,
                                std::uint64_t{question.first_row} + question.rows, job.batch)};
  }
  const PeerIdentity* peer = process().identity_of(sender().process);
  const bool ours = sender().process == process().id();
  if (!ours && (peer == nullptr || !hosts(args_.workers, peer->name, question.rank))) {
    process().blame_sender(fmt::format("it asked for the batch of rank {}", question.rank));
    co_return Error{Errc::permission, "a worker gets the batches of its own ranks"};
  }
  const std::uint32_t rows = which.end_row() - which.first_row;
  std::uint64_t& answering = answering_[question.rank];
  if (answering + rows > kMostAhead * job.batch) {
    co_return Error{Errc::overloaded,
                    fmt::format("rank {} asks for too many batches at once", question.rank)};
  }
  // Also when the asker dies meanwhile and this frame is destroyed.
  struct Answering {
    std::uint64_t& total;
    std::uint32_t rows;
    Answering(std::uint64_t& all, std::uint32_t asked) : total(all), rows(asked) { total += rows; }
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;
    ~Answering() { total -= rows; }
  } const counted(answering, rows);
  while (!examples_) co_await loaded_.wait();
  Task<Result<Batch>> batch = prepare(which);
  co_return co_await batch;
}

Task<Result<Batch>> InputReader::prepare(input::BatchQuestion question) {
  OwnRows own = own_rows(question, examples_->part);
  const std::size_t rows = own.rows.size();
  auto room = memory_->take(pool_bytes(rows, examples_->how));
  ByteWindow::Share share = co_await room;
  // Ends also where the asker dies meanwhile and this frame is destroyed.
  struct Preparing {
    InputReader& reader;
    std::size_t rows = 0;
    explicit Preparing(InputReader& of) : reader(of) { reader.meter_.begin(reader.now()); }
    Preparing(const Preparing&) = delete;
    Preparing& operator=(const Preparing&) = delete;
    ~Preparing() { reader.meter_.end(rows, reader.now()); }
  };
  std::optional<Preparing> preparing(std::in_place, *this);
  auto made = compute([examples = examples_, pool = pool_, question, own = std::move(own),
                       tracer = tracer_]() mutable {
    Span preparing;
    if (tracer->wants(question.step)) {
      preparing = tracer->span(question.step, tracer->thread_track("decoder"),
                               tracer->name("decode and augment"), own.rows.size());
    }
    return rows_of(question, std::move(own), examples->part, examples->how, *pool);
  });
  Result<Batch> batch = co_await made;
  if (batch) preparing->rows = rows;
  preparing.reset();
  report();
  for (const std::string& line : examples_->how.bad->news()) process().log(line);
  if (!batch) {
    const Error damage =
        Error(batch.error())
            .in(fmt::format("step {}, batch of rank {}", question.step, question.rank));
    fail(damage.message);             // not the asker's fault, and it would be so for another one
    co_await sleep(Duration::max());  // who asked is told of this end, by which this ends too
  }
  Span answering;
  if (tracer_->wants(question.step)) {
    const TraceTrack loop = tracer_->track(traced::kLoop);
    const TraceName name = tracer_->name(traced::kBatch);
    answering = tracer_->span(question.step, loop, name, question.rank);
    tracer_->note_sent(question.step, loop, name,
                       batch_id(question.step, question.rank, question.first_row, identity().name),
                       question.rank);
    if (question.step + 1 >= args_.job.end_of_steps()) tracer_->flush();
  }
  co_return memory_->lend(std::move(*batch), std::move(share));
}

void InputReader::report() {
  if (!observed_) return;
  const std::string& name = identity().name;
  const std::uint64_t left_out = examples_->how.bad->count();
  auto progress = meter_.report(name, args_.job.data.threads, left_out, now());
  if (progress) observer_->tell(std::move(*progress));
}

}  // namespace sterna::actors
