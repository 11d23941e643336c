// A ParameterServer in the place of a lost one, and its partner, which holds the same shard and
// goes on meanwhile.
//
// First the new one asks all workers to tell it, too, whatever they tell its partner: from which
// step on, each answers; the largest of these is T. Of the steps before T it knows nothing, and
// says so at once; of T and later ones it keeps what it hears, until it has its state. Then it
// copies: each chunk as its partner has it at version T or a later one, which holds all that any
// rank has said of the steps before; and the scalers likewise. No rank is ahead by more than a step
// of what both servers have acknowledged, so neither waits for the other for long.
#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "actors/server/parameter_server.h"

namespace sterna::actors {

Task<Result<std::uint64_t>> ParameterServer::enlist() {
  const Duration patience = args_.job.deadlines.start;
  std::deque<Peer<WorkerInterface>> workers;
  std::deque<Task<Result<Enlisted>>> answers;
  // Where one of the two decides the order of pushes, it tells the other of them.
  if (!order_) {
    for (const WorkerRanks& worker : args_.workers) {
      workers.emplace_back(*this, worker.name, patience, finder_);
      answers.push_back(workers.back().ask(Enlist{}, patience));
    }
  }
  std::optional<Peer<EvaluatorInterface>> evaluator;
  std::optional<Task<Result<Enlisted>>> heard;
  if (!args_.evaluator.empty()) {
    evaluator.emplace(*this, args_.evaluator, patience, finder_);
    heard.emplace(evaluator->ask(Enlist{}, patience));
  }
  std::uint64_t from = args_.job.first_step;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Result<Enlisted> answer = co_await std::move(answers[i]);
    STERNA_CO_ASSIGN(const Enlisted enlisted, std::move(answer).in(workers[i].name()));
    from = std::max(from, std::min(enlisted.step, args_.job.steps));
  }
  if (heard) {
    Result<Enlisted> answer = co_await std::move(*heard);
    STERNA_CO_TRY(std::move(answer).in(args_.evaluator));
  }
  co_return from;
}

Task<Result<void>> ParameterServer::refill(Shard& shard) {
  const Time began = now();
  Task<Result<std::uint64_t>> enlisting = enlist();
  STERNA_CO_ASSIGN(const std::uint64_t from, std::move(enlisting));
  if (!order_) enlisted_from_ = from;
  enlisted_.notify_all();
  Peer<ParameterServerInterface> partner(*this, args_.partner, args_.job.deadlines.start, finder_);
  Task<Result<BoardCopy>> asking = partner.ask(CopyBoard{from}, kWhileRanksCompute);
  STERNA_CO_ASSIGN(const BoardCopy board, std::move(asking));
  STERNA_CO_TRY(scalers_->take_copy(board.scalers));
  STERNA_CO_TRY(shard.reserve_as(board.named));
  if (board.version > concluded_.version) concluded_ = {board.version, board.skipped};
  if (order_) order_->follow(board, partner.process());
  Task<Result<void>> copying = order_ ? order_->copy(partner) : copy_chunks(shard, partner, from);
  STERNA_CO_TRY(std::move(copying));
  log(fmt::format("going on at version {}, as {} has it, after {} ms", shard.newest(),
                  args_.partner,
                  std::chrono::duration_cast<std::chrono::milliseconds>(now() - began).count()));
  co_return {};
}

Task<Result<void>> ParameterServer::copy_chunks(Shard& shard,
                                                Peer<ParameterServerInterface>& partner,
                                                std::uint64_t from) {
  ByteWindow window(poster(), process().options().link.most_under_way());
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
    Result<ChunkCopy> answer = co_await std::move(one.answer);
    STERNA_CO_ASSIGN(const ChunkCopy copy, std::move(answer));
    STERNA_CO_TRY(shard.take_copy(one.chunk, copy));
  }
  shard.copied();
  co_return {};
}

void ParameterServer::report_whole() {
  if (!(refills_ || recovers_) || said_whole_ || !observed_ || !filled_ || !shard_->whole()) return;
  said_whole_ = true;
  const PeerIdentity& self = identity();
  observer_->tell(ActorWhole{self.name, self.incarnation});
}

}  // namespace sterna::actors
