// What a worker's ranks compute on: batches, asked of readers ahead and put together.
#include <algorithm>

#include <fmt/format.h>

#include "actors/reader/batch_parts.h"
#include "actors/worker/worker.h"

namespace sterna::actors {
namespace {

/// Batches asked for ahead of the step that needs them, so that a reader's delay of up to two steps
/// is hidden; more would only hold memory.
constexpr std::uint64_t kBatchesAhead = 3;
/// Of more bytes than this only the next one.
constexpr std::uint64_t kBytesAhead = 64U << 20;
/// A batch travels in pieces of about so much.
constexpr std::size_t kPieceBytes = 1U << 20;

}  // namespace

void Worker::ask_batches(Rank& rank, std::uint64_t step) {
  const JobConfig& job = args_.job;
  const std::uint64_t image = rank.seat->replica->image_bytes();
  const std::uint64_t bytes = job.batch * image;
  const std::uint64_t ahead = bytes * kBatchesAhead > kBytesAhead ? 2 : kBatchesAhead;
  const std::uint64_t until = std::min(step + ahead, job.end_of_steps());
  const auto rows = static_cast<std::uint32_t>(std::max<std::size_t>(1, kPieceBytes / image));
  for (; rank.asked < until; ++rank.asked) {
    AskedBatch& asked = rank.batches.emplace_back();
    NextBatch question = policy_->batch(rank.asked, rank.rank);
    std::size_t reader = rank.asked * job.ranks + rank.rank;
    for (; question.first_row < job.batch; question.first_row += rows) {
      question.rows = std::min(rows, job.batch - question.first_row);
      asked.push_back(ask_rows(rank, question, reader++ % readers_.size()));
    }
  }
}

Worker::AskedRows Worker::ask_rows(const Rank& rank, const NextBatch& question,
                                   std::size_t reader) {
  AskedRows asked{question, {}};
  const bool sharded = args_.job.shards > 0;
  // Of shards, each has about its part.
  const std::uint64_t bytes =
      question.rows * rank.seat->replica->image_bytes() / (sharded ? readers_.size() : 1);
  const auto ask_one = [&](Reader& one) {
    asked.parts.push_back({one.peer.name(), one.peer.ask_within(one.down, bytes, question,
                                                                args_.job.deadlines.step)});
  };
  if (sharded) {
    for (Reader& one : readers_) ask_one(one);
  } else {
    ask_one(readers_[reader]);
  }
  return asked;
}

Task<Result<Batch>> Worker::next_batch(Rank& rank, std::uint64_t step) {
  Task<Result<Batch>> task = whole(std::move(rank.batches.front()));
  rank.batches.pop_front();
  Result<Batch> batch = co_await std::move(task);
  if (!batch) co_return at(step, fmt::format("batch of rank {}", rank.rank), batch.error());
  co_return batch;
}

Task<Result<Batch>> Worker::whole(AskedBatch asked) {
  struct Came {
    input::BatchQuestion question;
    std::vector<Batch> parts;
  };
  std::vector<Came> came;
  for (AskedRows& rows : asked) {
    const NextBatch& question = rows.question;
    Came& piece = came.emplace_back();
    piece.question = question_of(args_.job, question);
    for (AskedRows::Part& one : rows.parts) {
      Result<Batch> part = co_await std::move(one.answer);
      const Span taking = trace_.takes_batch(question, one.reader);
      Result<void> fits = part ? check(*part, question) : Result<void>(part.error());
      STERNA_CO_TRY(std::move(fits).in(one.reader));
      piece.parts.push_back(std::move(*part));
    }
  }
  const bool sharded = args_.job.shards > 0;
  if (!sharded && came.size() == 1) co_return std::move(came.front().parts.front());
  auto made = compute([came = std::move(came), sharded, readers = args_.readers,
                       pool = pool_]() mutable -> Result<Batch> {
    std::vector<Batch> pieces;
    for (Came& piece : came) {
      if (!sharded) {
        pieces.push_back(std::move(piece.parts.front()));
        continue;
      }
      STERNA_ASSIGN(pieces.emplace_back(),
                    put_together(piece.question, piece.parts, readers, *pool));
    }
    return joined(std::move(pieces), *pool);
  });
  co_return co_await std::move(made);
}

Result<void> Worker::check(const Batch& batch, const NextBatch& question) const {
  if (batch.step != question.step || batch.rank != question.rank) {
    return Error{Errc::malformed, "the answer is to another question"};
  }
  if (args_.job.shards > 0) return {};  // put_together() looks at the rest
  if (!batch.rows.empty() || batch.of != ShardOf{}) {
    return Error{Errc::malformed, "the answer is a shard's, and readers hold all examples"};
  }
  const std::size_t labels = batch.labels.size() / sizeof(std::uint16_t);
  const bool even =
      labels != 0 && batch.pixels.size() % labels == 0 && batch.levels.size() % labels == 0;
  if (labels == question.rows && even) return {};  // the rest is the net's concern
  return Error{Errc::malformed, fmt::format("the answer has {} labels for {} rows and {} bytes of "
                                            "pixels",
                                            labels, question.rows, batch.pixels.size())};
}

}  // namespace sterna::actors
