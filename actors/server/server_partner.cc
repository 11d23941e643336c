// What a ParameterServer says to its partner, which holds the same shard: one beside it, or one
// that has come in the place of a lost one and copies it meanwhile.
#include <utility>

#include "actors/server/parameter_server.h"

namespace sterna::actors {

Result<void> ParameterServer::from_partner(ActorId sender) const {
  const PeerIdentity* peer = process().identity_of(sender.process);
  if (peer != nullptr && !args_.partner.empty() && peer->name == args_.partner) return {};
  return Error{Errc::permission, "only who holds the same shard copies it"};
}

Task<Result<PushReply>> ParameterServer::on(Forward forward) {
  const ActorId from = sender();
  STERNA_CO_TRY(blamed(from, from_partner(from)));
  if (!order_) co_return Error{Errc::invalid_argument, "pushes of this job are in no order"};
  Task<Result<PushReply>> taking = order_->take(from, std::move(forward));
  co_return co_await taking;
}

Task<Result<ChunkCopy>> ParameterServer::on(CopyChunk question) {
  const ActorId from = sender();
  STERNA_CO_TRY(blamed(from, from_partner(from)));
  if (refilling()) co_return not_yet();
  co_await prepared();
  while (true) {
    const std::uint64_t version = order_ ? 0 : question.from;
    STERNA_CO_ASSIGN(const bool possible,
                     blamed(from, shard_->can_be_copied(question.chunk, version)));
    if (order_ && order_->taken() < question.from) {
      co_await order_->moved().wait();
      continue;
    }
    if (possible) break;
    co_await shard_.changed(question.chunk).wait();
  }
  Shard::Copy copy = shard_->copy(question.chunk);
  auto making = compute([values = std::move(copy.values), isa = shard_->isa()]() mutable {
    return values.made(isa);
  });
  const std::shared_ptr<const Buffer> made = co_await making;
  copy.rest.values = share(made);
  co_return std::move(copy.rest);
}

Task<Result<BoardCopy>> ParameterServer::on(CopyBoard question) {
  const ActorId from = sender();
  STERNA_CO_TRY(blamed(from, from_partner(from)));
  if (refilling()) co_return not_yet();
  co_await prepared();
  while (!scalers_->has_come_to(question.from)) co_await agreed_.wait();
  if (order_) STERNA_CO_TRY(order_->begin_to_tell(from));
  Handover known = handover();
  co_return BoardCopy{.scalers = scalers_->copy(),
                      .version = known.version,
                      .skipped = known.skipped,
                      .named = std::move(known.named),
                      .order = order_ ? order_->taken() : 0};
}

Task<void> ParameterServer::no_longer_early(const Push& push) {
  for (const Packet& packet : push.packets) {
    while (shard_->is_early(packet.chunk, packet.base_version)) {
      co_await shard_.changed(packet.chunk).wait();
    }
  }
}

}  // namespace sterna::actors
