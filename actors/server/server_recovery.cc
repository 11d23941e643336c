#include "actors/server/server_recovery.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/actor/byte_window.h"
#include "runtime/actor/process.h"
#include "runtime/cluster/peer.h"

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

Task<Result<void>> recover_chunk(Shard& shard, ByteWindow& window, CopyChunk question,
                                 std::vector<Peer<WorkerInterface>*> holders, Duration patience) {
  Error why;
  for (Peer<WorkerInterface>* holder : holders) {
    auto asking =
        holder->ask_within(window, shard.bytes_of_copy(question.chunk), question, patience);
    const Result<ChunkCopy> copy = co_await asking;
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

/// Which versions the evaluator is promised, and which it has done with.
Task<Result<void>> recover_promises(const Actor<ParameterServerInterface>& actor,
                                    const ServerArgs& args, const Finder& finder, LostState state) {
  if (args.evaluator.empty()) co_return {};
  const Duration patience = args.job.deadlines.start;
  Peer<EvaluatorInterface> evaluator(actor, args.evaluator, patience, finder);
  Task<Result<Handover>> asking = evaluator.ask_again(TakeOver{}, patience);
  Result<Handover> answer = co_await asking;
  STERNA_CO_ASSIGN(const Handover known, std::move(answer).in(args.evaluator));
  state.hears_of({known.version, known.skipped});
  if (!args.job.names_evaluations()) co_return {};
  co_return state.shard.reserve_as(known.named).in(args.evaluator);
}

}  // namespace

Task<Result<void>> recover(const Actor<ParameterServerInterface>& actor, const ServerArgs& args,
                           const Finder& finder, LostState state) {
  Process& process = actor.process();
  Shard& shard = state.shard;
  const Time began = process.loop().now();
  const JobConfig& job = args.job;
  if (!job.servers_come_again()) {
    co_return Error{Errc::invalid_argument, "nobody else has what a server of this job had"};
  }
  std::deque<Peer<WorkerInterface>> workers;
  std::deque<Task<Result<Held>>> answers;
  for (const WorkerRanks& worker : args.workers) {
    workers.emplace_back(actor, worker.name, job.deadlines.start, finder);
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
  ByteWindow window(process.poster(actor.self().id.local), process.options().link.most_under_way());
  std::deque<Task<Result<void>>> copying;
  std::uint64_t oldest = job.steps;
  for (auto& [chunk, one] : newest) {
    // All who had it were lost with the server.
    if (one.holders.empty()) {
      co_return Error{Errc::actor_down, fmt::format("none has chunk {}", chunk)};
    }
    oldest = std::min(oldest, one.version);
    if (one.version == job.first_step) continue;  // as it begins anyway
    copying.push_back(recover_chunk(shard, window, {chunk, one.version}, std::move(one.holders),
                                    job.deadlines.start));
    copying.back().start();
  }
  for (Task<Result<void>>& one : copying) STERNA_CO_TRY(std::move(one));
  shard.copied();
  // A rank may be in the step before, and want what was agreed of that.
  state.scalers.begin_at(std::max(job.first_step + 1, oldest) - 1);
  Task<Result<void>> recovering = recover_promises(actor, args, finder, state);
  STERNA_CO_TRY(std::move(recovering));
  process.log(fmt::format(
      "going on at version {}, as the workers have it, after {} ms", shard.newest(),
      std::chrono::duration_cast<std::chrono::milliseconds>(process.loop().now() - began).count()));
  co_return {};
}

}  // namespace sterna::actors
