// A ParameterServer without a partner, in the place of a lost one, where workers have all that it
// had (JobConfig::servers_come_again()).
//
// Each worker says which version it holds of each chunk of the shard. No rank is more than a step
// ahead of another, so these are one or two, and the larger is the newest that the lost server has
// given out: a later one would need packets of all ranks, which it told nobody about. The new
// server copies that one from a worker, parameters and slots. The packets towards the next version,
// and the scalers that are being agreed, ranks tell it again: they keep them until they hold what
// was made of them. A rank that has not got the newest version yet gets it as the others' state, as
// nobody knows the average that led there any more.
//
// What the lost server had kept for the evaluator is gone: that misses an evaluation, and says so.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "actors/server/parameter_server.h"

namespace sterna::actors {
namespace {

/// The newest version of a chunk, and who holds it.
struct Newest {
  std::uint64_t version = 0;
  std::vector<Peer<WorkerInterface>*> holders;
};
using NewestByChunk = std::map<std::uint32_t, Newest>;

Result<void> add(const Held& held, Peer<WorkerInterface>& worker, const JobConfig& job,
                 NewestByChunk& newest) {
  for (const Held::Chunk& one : held.chunks) {
    const auto found = newest.find(one.chunk);
    if (found == newest.end() || one.version < job.first_step || one.version >= job.steps) {
      return Error{Errc::malformed, fmt::format("chunk {} at version {}, which is none of this "
                                                "shard's",
                                                one.chunk, one.version)};
    }
    if (one.version > found->second.version) found->second = {one.version, {}};
    if (one.version == found->second.version) found->second.holders.push_back(&worker);
  }
  return {};
}

}  // namespace

Task<Result<void>> ParameterServer::recover(Shard& shard) {
  const Time began = now();
  const JobConfig& job = args_.job;
  if (!job.servers_come_again()) {
    co_return Error{Errc::invalid_argument, "nobody else has what a server of this job had"};
  }
  std::deque<Peer<WorkerInterface>> workers;
  std::deque<Task<Result<Held>>> answers;
  for (const WorkerRanks& worker : args_.workers) {
    workers.emplace_back(*this, worker.name, job.deadlines.start, finder_);
    answers.push_back(workers.back().ask(ShowHeld{}, job.deadlines.start));
  }
  NewestByChunk newest;
  for (const std::uint32_t chunk : shard.changing()) newest[chunk] = {};
  for (Peer<WorkerInterface>& worker : workers) {
    Result<Held> answer = co_await std::move(answers.front());
    answers.pop_front();
    STERNA_CO_ASSIGN(const Held held, std::move(answer).in(worker.name()));
    STERNA_CO_TRY(add(held, worker, job, newest).in(worker.name()));
  }
  ByteWindow window(poster(), process().options().link.most_under_way());
  std::deque<Task<Result<void>>> copying;
  std::uint64_t oldest = job.steps;
  for (auto& [chunk, one] : newest) {
    // All who had it were lost with the server.
    if (one.holders.empty()) {
      co_return Error{Errc::actor_down, fmt::format("none has chunk {}", chunk)};
    }
    oldest = std::min(oldest, one.version);
    if (one.version == job.first_step) continue;  // as it begins anyway
    copying.push_back(recover_chunk(shard, window, {chunk, one.version}, std::move(one.holders)));
    copying.back().start();
  }
  for (Task<Result<void>>& one : copying) STERNA_CO_TRY(std::move(one));
  shard.copied();
  // A rank may be in the step before, and want what was agreed of that.
  scalers_->begin_at(std::max(job.first_step + 1, oldest) - 1);
  Task<Result<void>> recovering = recover_promises(shard);
  STERNA_CO_TRY(std::move(recovering));
  log(fmt::format("going on at version {}, as the workers have it, after {} ms", shard.newest(),
                  std::chrono::duration_cast<std::chrono::milliseconds>(now() - began).count()));
  co_return {};
}

Task<Result<void>> ParameterServer::recover_chunk(Shard& shard, ByteWindow& window,
                                                  CopyChunk question,
                                                  std::vector<Peer<WorkerInterface>*> holders) {
  Error why;
  for (Peer<WorkerInterface>* holder : holders) {
    auto asking = holder->ask_within(window, shard.bytes_of_copy(question.chunk), question,
                                     args_.job.deadlines.start);
    const Result<ChunkCopy> copy = co_await std::move(asking);
    if (copy && copy->version == question.from) {
      co_return shard.take_copy(question.chunk, *copy).in(holder->name());
    }
    why = copy ? Error{Errc::malformed, fmt::format("version {} of it", copy->version)}
               : Error(copy.error());
    why = why.in(holder->name());
    // Another may have it; one in the place of a lost one has not.
    if (why.code != Errc::actor_down && why.code != Errc::not_found) break;
    why.code = Errc::actor_down;
  }
  co_return why.in(fmt::format("chunk {}", question.chunk));
}

Task<Result<void>> ParameterServer::recover_promises(Shard& shard) {
  if (args_.evaluator.empty()) co_return {};
  const Duration patience = args_.job.deadlines.start;
  Peer<EvaluatorInterface> evaluator(*this, args_.evaluator, patience, finder_);
  Task<Result<Handover>> asking = evaluator.ask_again(TakeOver{}, patience);
  Result<Handover> answer = co_await std::move(asking);
  STERNA_CO_ASSIGN(const Handover known, std::move(answer).in(args_.evaluator));
  if (known.version > concluded_.version) concluded_ = {known.version, known.skipped};
  if (!args_.job.names_evaluations()) co_return {};
  co_return shard.reserve_as(known.named).in(args_.evaluator);
}

}  // namespace sterna::actors
