// What a worker tells servers: what its ranks' scalers would be, and their gradients.
#include <utility>

#include "actors/codecs/codec.h"
#include "actors/worker/worker.h"

namespace sterna::actors {

Task<Result<void>> Worker::agree(Rank& rank, std::uint64_t step, std::uint32_t shard,
                                 std::vector<Offer::OwnScaler> scalers) {
  ShardServers& servers = servers_[shard];
  const Offer offer{.rank = rank.rank,
                    .incarnation = identity().incarnation,
                    .step = args_.job.takes_newest_scalers() ? rank.version : step,
                    .scalers = std::move(scalers)};
  if (args_.job.servers_come_again()) told_offers_.push_back({shard, offer});
  std::vector<ShardServers::Member*> asked;
  for (ShardServers::Member& server : servers.members()) {
    if (!servers.paired() || server.hears(step)) asked.push_back(&server);
  }
  const auto all = std::make_shared<Agreement>(asked.size());
  for (ShardServers::Member* server : asked) {
    // Who comes to a step without this answer would be ahead of it.
    if (servers.paired()) ++under_way_[step];
    run(agree_with(rank, servers, *server, offer, all));
  }
  if (!asked.empty()) co_return {};
  co_return at_step(step, "scalers from " + servers.name(),
                    {Errc::actor_down, "no server is left"});
}

Task<Result<void>> Worker::agree_with(Rank& rank, ShardServers& servers,
                                      ShardServers::Member& server, Offer offer,
                                      std::shared_ptr<Agreement> all) {
  const std::uint64_t step = offer.step;
  const Time asked = now();
  Task<Result<Agreed>> answer =
      servers.paired()
          ? ask_while_it_lives(process(), server, std::nullopt, Offer(offer), kWhileRanksCompute)
          : servers.ask_one(server, offer, kWhileRanksCompute);
  Result<Agreed> agreed = co_await std::move(answer);
  trace_.asked(step, "agree with", server.peer.name(), asked);
  --all->waiting;
  if (servers.paired()) no_longer_under_way(step);
  if (agreed && agreed->values.size() != offer.scalers.size()) {
    agreed = Error{Errc::malformed, "the answer is to another question"};
  }
  if (!agreed) {
    if (servers.is_of_one(agreed.error()) && (all->there || all->waiting > 0)) co_return {};
    co_return at_step(step, "scalers from " + server.peer.name(), agreed.error());
  }
  if (std::exchange(all->there, true)) co_return {};
  for (std::size_t i = 0; i < offer.scalers.size(); ++i) {
    rank.net->agree(step, offer.scalers[i].index, agreed->values[i]);
  }
  ++rank.agreements;
  rank.agreed.notify_all();
  co_return {};
}

void Worker::push(Rank& rank, std::uint64_t step, std::uint32_t shard,
                  std::vector<Packet> packets) {
  if (exchanges()) {
    std::erase_if(packets, [&](const Packet& packet) {
      if (packet.payload.size() > 0) return false;
      exchanged_->packet_is_there(table_->chunks[packet.chunk].tensor);
      return true;
    });
    if (packets.empty()) return;
  }
  for (Packet& packet : packets) {
    packet.base_version = policy_->in_step() ? step : rank.seat->incoming->bases()[packet.chunk];
    const std::uint64_t bytes = packet.payload.size();
    traffic_.gradient_bytes += bytes;
    traffic_.gradient_elements += packet.count;
    if (codec_of(packet.codec).ternary()) {
      traffic_.ternarized_bytes += bytes + sizeof(packet.scaler);
      traffic_.ternarized_elements += packet.count;
    }
    if (computing(rank)) traffic_.bytes_before_backward_ended += bytes;
  }
  const Contribution made = policy_->contribution(step);
  const Push push{.rank = rank.rank,
                  .incarnation = identity().incarnation,
                  .step = step,
                  .examples = made.examples,
                  .kind = made.kind,
                  .packets = std::move(packets)};
  if (args_.job.servers_come_again()) told_pushes_.push_back({shard, push});
  ShardServers& servers = servers_[shard];
  const bool one_leads = servers.paired() && !policy_->in_step();
  for (ShardServers::Member& server : servers.members()) {
    const bool told =
        one_leads ? &server == &servers.member(PairAsks::who_leads) : server.hears(step);
    if (servers.paired() && !told) continue;
    ++unacknowledged_;
    ++rank.unanswered;
    ++under_way_[step];
    run(send(rank, servers, server, push));
  }
}

void Worker::no_longer_under_way(std::uint64_t step) {
  if (const auto left = under_way_.find(step); --left->second == 0) under_way_.erase(left);
  pushed_.notify_all();
}

Task<Result<void>> Worker::send(Rank& rank, ShardServers& servers, ShardServers::Member& server,
                                Push push) {
  const std::uint64_t step = push.step;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> chunks;
  for (const Packet& packet : push.packets) {
    bytes += packet.payload.size();
    chunks.push_back(packet.chunk);
  }
  std::vector<Packet> kept;  // until it is known whether they count
  if (!policy_->in_step() && args_.job.gradient.error_feedback) kept = push.packets;
  const Time asked = now();
  Span sending = trace_.sends(push);
  server.in_flight += bytes;
  trace_.in_flight(step, server.peer.name(), server.in_flight);
  // In the place of a lost one a server has to get its state first.
  const bool may_wait = servers.paired() || args_.job.servers_come_again();
  const Duration patience = may_wait ? kWhileRanksCompute : args_.job.deadlines.step;
  const bool one_leads = servers.paired() && !policy_->in_step();
  Task<Result<PushReply>> answer =
      one_leads
          ? ask_pair(process(), servers, PairAsks::who_leads, bytes, std::move(push), patience)
      : servers.paired()
          ? ask_while_it_lives(process(), server, bytes, std::move(push), patience)
          : servers.ask_one_within(server, server.up, bytes, std::move(push), patience);
  if (servers.paired()) answer.start();
  sending.end();
  const Result<PushReply> reply = co_await std::move(answer);
  server.in_flight -= bytes;
  trace_.in_flight(step, server.peer.name(), server.in_flight);
  trace_.asked(step, "push", server.peer.name(), asked);
  if (!reply && !one_leads && servers.is_of_one(reply.error())) {
    --rank.unanswered;
  } else {
    const Result<void> taken =
        reply ? take_verdicts(rank, *reply, chunks, std::move(kept)) : Result<void>(reply.error());
    if (!taken) co_return at_step(step, "gradient to " + server.peer.name(), taken.error());
  }
  --unacknowledged_;
  no_longer_under_way(step);
  finish();
  co_return {};
}

}  // namespace sterna::actors
