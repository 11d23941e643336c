#include "actors/server/server_refilling.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

namespace sterna::actors {

Task<Result<void>> ServerRefilling::enlist_at_evaluator() {
  if (args_.evaluator.empty()) co_return {};
  const Duration patience = args_.job.deadlines.start;
  Peer<EvaluatorInterface> evaluator(actor_, args_.evaluator, patience, finder_);
  Task<Result<Enlisted>> asking = evaluator.ask(Enlist{}, patience);
  Result<Enlisted> answer = co_await asking;
  STERNA_CO_TRY(std::move(answer).in(args_.evaluator));
  co_return {};
}

Task<Result<std::uint64_t>> ServerRefilling::enlist_at_all() {
  const Duration patience = args_.job.deadlines.start;
  std::deque<Peer<WorkerInterface>> workers;
  std::deque<Task<Result<Enlisted>>> answers;
  for (const WorkerRanks& worker : args_.workers) {
    workers.emplace_back(actor_, worker.name, patience, finder_);
    answers.push_back(workers.back().ask(Enlist{}, patience));
  }
  Task<Result<void>> at_evaluator = enlist_at_evaluator();
  at_evaluator.start();
  std::uint64_t from = args_.job.first_step;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Result<Enlisted> answer = co_await answers[i];
    STERNA_CO_ASSIGN(const Enlisted enlisted, std::move(answer).in(workers[i].name()));
    from = std::max(from, std::min(enlisted.step, args_.job.steps));
  }
  STERNA_CO_TRY(std::move(at_evaluator));
  co_return from;
}

void ServerRefilling::release(std::uint64_t version) {
  if (released_.size() == Shard::kMaxSnapshots) released_.pop_front();
  released_.push_back(version);
}

Task<Result<void>> ServerRefilling::refill(LostState state, ServerOrder* order) {
  const Process& process = actor_.process();
  const Time began = process.loop().now();
  std::uint64_t from = args_.job.first_step;
  if (order == nullptr) {
    Task<Result<std::uint64_t>> enlisting = enlist_at_all();
    STERNA_CO_ASSIGN(from, std::move(enlisting));
    hears_from_ = from;
    enlisted_.notify_all();
  } else {  // its partner tells it what workers say
    Task<Result<void>> enlisting = enlist_at_evaluator();
    STERNA_CO_TRY(std::move(enlisting));
  }
  Peer<ParameterServerInterface> partner(actor_, args_.partner, args_.job.deadlines.start, finder_);
  Task<Result<BoardCopy>> asking = partner.ask(CopyBoard{from}, kWhileRanksCompute);
  STERNA_CO_ASSIGN(const BoardCopy board, std::move(asking));
  STERNA_CO_TRY(state.scalers.take_copy(board.scalers));
  STERNA_CO_TRY(state.shard.reserve_as(board.named));
  state.hears_of({board.version, board.skipped});
  if (order != nullptr) order->follow(board, partner.process());
  Task<Result<void>> copying =
      order != nullptr ? order->copy(partner) : copy_chunks(state.shard, partner, from);
  STERNA_CO_TRY(std::move(copying));
  process.log(fmt::format(
      "going on at version {}, as {} has it, after {} ms", state.shard.newest(), args_.partner,
      std::chrono::duration_cast<std::chrono::milliseconds>(process.loop().now() - began).count()));
  co_return {};
}

Task<Result<void>> ServerRefilling::copy_chunks(Shard& shard,
                                                Peer<ParameterServerInterface>& partner,
                                                std::uint64_t from) {
  Process& process = actor_.process();
  ByteWindow window(process.poster(actor_.self().id.local),
                    process.options().link.most_under_way());
  struct Asked {
    std::uint32_t chunk = 0;
    Task<Result<ChunkCopy>> answer;
  };
  std::deque<Asked> asked;
  for (const std::uint32_t chunk : shard.table().chunks_of(args_.index)) {
    asked.push_back({chunk, partner.ask_within(window, shard.bytes_of_copy(chunk),
                                               CopyChunk{chunk, from}, kWhileRanksCompute)});
  }
  for (Asked& one : asked) {
    Result<ChunkCopy> answer = co_await one.answer;
    STERNA_CO_ASSIGN(const ChunkCopy copy, std::move(answer));
    STERNA_CO_TRY(shard.take_copy(one.chunk, copy));
  }
  shard.copied();
  co_return {};
}

}  // namespace sterna::actors
