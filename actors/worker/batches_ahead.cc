#include "actors/worker/batches_ahead.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "actors/reader/batch_parts.h"

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

BatchesAhead::BatchesAhead(const WorkerContext& context, Readers readers, const Poster& poster,
                           std::shared_ptr<BufferPool> pool)
    : context_(context), pool_(std::move(pool)) {
  const std::uint64_t most = context.process.options().link.most_under_way();
  for (auto& reader : readers) readers_.emplace_back(std::move(reader), poster, most);
}

void BatchesAhead::begin(std::uint32_t rank, std::uint64_t first_step, std::size_t image_bytes) {
  Rank& its = ranks_[rank];
  its.next = first_step;
  its.image_bytes = image_bytes;
}

void BatchesAhead::ask(std::uint32_t rank, std::uint64_t step) {
  const JobConfig& job = context_.job();
  Rank& its = ranks_.at(rank);
  const std::uint64_t image = its.image_bytes;
  const std::uint64_t bytes = job.batch * image;
  const std::uint64_t ahead = bytes * kBatchesAhead > kBytesAhead ? 2 : kBatchesAhead;
  const std::uint64_t until = std::min(step + ahead, job.end_of_steps());
  const auto rows = static_cast<std::uint32_t>(std::max<std::size_t>(1, kPieceBytes / image));
  for (; its.next < until; ++its.next) {
    Asked& asked = its.asked.emplace_back();
    NextBatch question = context_.policy.batch(its.next, rank);
    std::size_t reader = its.next * job.ranks + rank;
    for (; question.first_row < job.batch; question.first_row += rows) {
      question.rows = std::min(rows, job.batch - question.first_row);
      asked.push_back(ask_rows(image, question, reader++ % readers_.size()));
    }
  }
}

BatchesAhead::Rows BatchesAhead::ask_rows(std::size_t image_bytes, const NextBatch& question,
                                          std::size_t reader) {
  Rows asked{question, {}};
  // Of shards, each has about its part.
  const std::uint64_t bytes = question.rows * image_bytes / (sharded() ? readers_.size() : 1);
  const auto ask_one = [&](Reader& one) {
    asked.parts.push_back({one.peer.name(), one.peer.ask_within(one.down, bytes, question,
                                                                context_.job().deadlines.step)});
  };
  if (sharded()) {
    for (Reader& one : readers_) ask_one(one);
  } else {
    ask_one(readers_[reader]);
  }
  return asked;
}

Task<Result<Batch>> BatchesAhead::next(std::uint32_t rank, std::uint64_t step) {
  std::deque<Asked>& asked = ranks_.at(rank).asked;
  Task<Result<Batch>> task = whole(std::move(asked.front()));
  asked.pop_front();
  Result<Batch> batch = co_await task;
  if (!batch) co_return at_step(step, fmt::format("batch of rank {}", rank), batch.error());
  co_return batch;
}

Task<Result<Batch>> BatchesAhead::whole(Asked asked) {
  struct Came {
    input::BatchQuestion question;
    std::vector<Batch> parts;
  };
  std::vector<Came> came;
  for (Rows& rows : asked) {
    const NextBatch& question = rows.question;
    Came& piece = came.emplace_back();
    piece.question = question_of(context_.job(), question);
    for (Rows::Part& one : rows.parts) {
      Result<Batch> part = co_await one.answer;
      const Span taking = context_.trace.takes_batch(question, one.reader);
      Result<void> fits = part ? check(*part, question) : Result<void>(part.error());
      STERNA_CO_TRY(std::move(fits).in(one.reader));
      piece.parts.push_back(std::move(*part));
    }
  }
  if (!sharded() && came.size() == 1) co_return std::move(came.front().parts.front());
  auto made =
      context_.compute([came = std::move(came), sharded = sharded(),
                        readers = context_.args.readers, pool = pool_]() mutable -> Result<Batch> {
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
  co_return co_await made;
}

Result<void> BatchesAhead::check(const Batch& batch, const NextBatch& question) const {
  if (batch.step != question.step || batch.rank != question.rank) {
    return Error{Errc::malformed, "the answer is to another question"};
  }
  if (sharded()) return {};  // put_together() looks at the rest
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
