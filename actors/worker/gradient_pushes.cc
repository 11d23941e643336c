#include "actors/worker/gradient_pushes.h"

#include <algorithm>
#include <utility>

#include "actors/codecs/codec.h"

namespace sterna::actors {

Task<Result<void>> GradientPushes::agree(std::uint64_t step, std::uint32_t shard, Offer offer,
                                         OnAgreed agreed) {
  ShardServers& servers = servers_[shard];
  if (context_.job().servers_come_again()) told_offers_.push_back({shard, offer});
  std::vector<ShardServers::Member*> asked;
  for (ShardServers::Member& server : servers.members()) {
    if (!servers.paired() || server.hears(step)) asked.push_back(&server);
  }
  const auto all = std::make_shared<Agreement>(Agreement{asked.size(), std::move(agreed)});
  for (ShardServers::Member* server : asked) {
    // Who comes to a step without this answer would be ahead of it.
    if (servers.paired()) ++under_way_[step];
    context_.run(agree_with(servers, *server, offer, all));
  }
  if (!asked.empty()) co_return {};
  co_return at_step(step, "scalers from " + servers.name(),
                    {Errc::actor_down, "no server is left"});
}

Task<Result<void>> GradientPushes::agree_with(ShardServers& servers, ShardServers::Member& server,
                                              Offer offer, std::shared_ptr<Agreement> all) {
  const std::uint64_t step = offer.step;
  const Time asked = context_.now();
  Task<Result<Agreed>> answer = servers.paired()
                                    ? ask_while_it_lives(context_.process, server, std::nullopt,
                                                         Offer(offer), kWhileRanksCompute)
                                    : servers.ask_one(server, offer, kWhileRanksCompute);
  Result<Agreed> agreed = co_await answer;
  context_.trace.asked(step, "agree with", server.peer.name(), asked);
  --all->waiting;
  if (servers.paired()) no_longer_under_way(step);
  if (agreed && agreed->values.size() != offer.scalers.size()) {
    agreed = Error{Errc::malformed, "the answer is to another question"};
  }
  if (!agreed) {
    const bool there = all->agreed == nullptr;
    if (servers.is_of_one(agreed.error()) && (there || all->waiting > 0)) co_return {};
    co_return at_step(step, "scalers from " + server.peer.name(), agreed.error());
  }
  if (const OnAgreed first = std::exchange(all->agreed, nullptr)) first(*agreed);
  co_return {};
}

void GradientPushes::push(std::uint32_t rank, std::uint64_t step, std::uint32_t shard,
                          std::vector<Packet> packets) {
  for (const Packet& packet : packets) {
    const std::uint64_t bytes = packet.payload.size();
    traffic_.gradient_bytes += bytes;
    traffic_.gradient_elements += packet.count;
    if (!codec_of(packet.codec).ternary()) continue;
    traffic_.ternarized_bytes += bytes + sizeof(packet.scaler);
    traffic_.ternarized_elements += packet.count;
  }
  const Contribution made = context_.policy.contribution(step);
  const Push push{.rank = rank,
                  .incarnation = context_.identity().incarnation,
                  .step = step,
                  .examples = made.examples,
                  .kind = made.kind,
                  .packets = std::move(packets)};
  if (context_.job().servers_come_again()) told_pushes_.push_back({shard, push});
  ShardServers& servers = servers_[shard];
  const bool one_leads = servers.paired() && !in_step();
  for (ShardServers::Member& server : servers.members()) {
    const bool told =
        one_leads ? &server == &servers.member(PairAsks::who_leads) : server.hears(step);
    if (servers.paired() && !told) continue;
    ++unanswered_;
    ++of(rank).unanswered;
    ++under_way_[step];
    context_.run(send(servers, server, push));
  }
}

Task<Result<void>> GradientPushes::send(ShardServers& servers, ShardServers::Member& server,
                                        Push push) {
  RankPushes& rank = of(push.rank);
  const std::uint64_t step = push.step;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> chunks;
  for (const Packet& packet : push.packets) {
    bytes += packet.payload.size();
    chunks.push_back(packet.chunk);
  }
  const JobConfig& job = context_.job();
  std::vector<Packet> kept;  // until it is known whether they count
  if (!in_step() && job.gradient.error_feedback) kept = push.packets;
  const Time asked = context_.now();
  const WorkerTrace& trace = context_.trace;
  Span sending = trace.sends(push);
  server.in_flight += bytes;
  trace.in_flight(step, server.peer.name(), server.in_flight);
  // In the place of a lost one a server has to get its state first.
  const bool may_wait = servers.paired() || job.servers_come_again();
  const Duration patience = may_wait ? kWhileRanksCompute : job.deadlines.step;
  const bool one_leads = servers.paired() && !in_step();
  Process& process = context_.process;
  Task<Result<PushReply>> answer =
      one_leads ? ask_pair(process, servers, PairAsks::who_leads, bytes, std::move(push), patience)
      : servers.paired()
          ? ask_while_it_lives(process, server, bytes, std::move(push), patience)
          : servers.ask_one_within(server, server.up, bytes, std::move(push), patience);
  if (servers.paired()) answer.start();
  sending.end();
  const Result<PushReply> reply = co_await answer;
  server.in_flight -= bytes;
  trace.in_flight(step, server.peer.name(), server.in_flight);
  trace.asked(step, "push", server.peer.name(), asked);
  if (!reply && !one_leads && servers.is_of_one(reply.error())) {
    --rank.unanswered;
  } else {
    const Result<void> taken =
        reply ? take_verdicts(rank, *reply, chunks, std::move(kept)) : Result<void>(reply.error());
    if (!taken) co_return at_step(step, "gradient to " + server.peer.name(), taken.error());
  }
  --unanswered_;
  no_longer_under_way(step);
  on_answered_();
  co_return {};
}

Result<void> GradientPushes::take_verdicts(RankPushes& rank, const PushReply& reply,
                                           const std::vector<std::uint32_t>& chunks,
                                           std::vector<Packet> kept) {
  const bool judged = !in_step();
  if (judged && reply.verdicts.size() != chunks.size()) {
    return Error{Errc::malformed, "the answer is to another question"};
  }
  count_staleness(reply);
  for (std::size_t i = 0; judged && i < chunks.size(); ++i) {
    if (reply.verdicts[i] == Verdict::DUPLICATE) rank.repeated.push_back(chunks[i]);
    if (reply.verdicts[i] != Verdict::DROPPED) continue;
    // Where each makes a version the job is over, and nobody is late.
    if (context_.job().facts().together) ++traffic_.late_packets;
    if (!kept.empty()) rank.dropped.push_back(std::move(kept[i]));
  }
  // Who waits for it goes on at once.
  --rank.unanswered;
  rank.answered.notify_all();
  return {};
}

void GradientPushes::count_staleness(const PushReply& reply) {
  const std::size_t known = std::min(reply.staleness.size(), reply.verdicts.size());
  for (std::size_t i = 0; i < known; ++i) {
    if (reply.verdicts[i] != Verdict::ACCEPTED) continue;
    ++traffic_.lone_packets;
    traffic_.staleness += reply.staleness[i];
    traffic_.most_stale = std::max<std::uint64_t>(traffic_.most_stale, reply.staleness[i]);
  }
}

void GradientPushes::made(std::uint32_t rank, std::uint64_t step) {
  of(rank).made = step + 1;
  pushed_.notify_all();
}

Task<void> GradientPushes::until_made(std::uint32_t rank, std::uint64_t step) {
  while (of(rank).made <= step) co_await pushed_.wait();
}

Task<void> GradientPushes::all_pushed(std::uint64_t step) {
  const bool both_hear = paired() && context_.job().in_step();
  if (!context_.job().ranks_repeat_steps() && !both_hear) co_return;
  const auto behind = [&] {
    return (!under_way_.empty() && under_way_.begin()->first < step) ||
           std::ranges::any_of(ranks_, [&](const auto& one) { return one.second.made < step; });
  };
  while (behind()) co_await pushed_.wait();
}

void GradientPushes::no_longer_under_way(std::uint64_t step) {
  if (const auto left = under_way_.find(step); --left->second == 0) under_way_.erase(left);
  pushed_.notify_all();
}

void GradientPushes::tell_again(std::uint32_t shard, ProcessId next) {
  // What is under way to it after the first time is asked again until it has it.
  if (std::exchange(told_again_[shard], next) == next) return;
  for (const Told<Offer>& told : told_offers_) {
    if (told.shard == shard) context_.run(tell_again(shard, told.message, 0));
  }
  for (const Told<Push>& told : told_pushes_) {
    std::uint64_t bytes = 0;
    for (const Packet& packet : told.message.packets) bytes += packet.payload.size();
    if (told.shard == shard) context_.run(tell_again(shard, told.message, bytes));
  }
}

template <class M>
Task<Result<void>> GradientPushes::tell_again(std::uint32_t shard, M message, std::uint64_t bytes) {
  const std::uint64_t step = message.step;
  ShardServers& servers = servers_[shard];
  ShardServers::Member& server = servers.members().front();
  auto telling =
      servers.ask_one_within(server, server.up, bytes, std::move(message), kWhileRanksCompute);
  const auto told = co_await telling;
  // It may know all of it, or more.
  if (told || told.error().code == Errc::not_found) co_return {};
  co_return at_step(step, "telling " + server.peer.name() + " again", told.error());
}

void GradientPushes::forget_before(std::uint64_t version) {
  while (!told_pushes_.empty() && told_pushes_.front().message.step < version)
    told_pushes_.pop_front();
  // Others may be a step behind, and use what was agreed in the one before that.
  while (!told_offers_.empty() && told_offers_.front().message.step + 1 < version)
    told_offers_.pop_front();
}

}  // namespace sterna::actors
