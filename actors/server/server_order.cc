#include "actors/server/server_order.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "actors/server/blamed.h"

namespace sterna::actors {
namespace {

/// Where the other of a pair is, which is not waited for.
constexpr Duration kLookForPartner = std::chrono::milliseconds(500);
/// Between a push that did not arrive and the same one again.
constexpr Duration kTellAgain = std::chrono::milliseconds(20);
/// The leader is never so many pushes ahead: each rank waits for the answers to its last.
constexpr std::uint64_t kMostAhead = 1U << 24;

/// What is wrong with a push there is wrong here, too.
bool is_wrong(const Error& error) {
  return error.code == Errc::invalid_argument || error.code == Errc::malformed ||
         error.code == Errc::non_finite;
}

std::uint64_t bytes_of(const Push& push) {
  std::uint64_t bytes = 0;
  for (const Packet& packet : push.packets) bytes += packet.payload.size();
  return bytes;
}

}  // namespace

ServerOrder::ServerOrder(const Actor<ParameterServerInterface>& actor, const ServerArgs& args,
                         const Finder& finder, LiveShard& shard, bool leads)
    : actor_(actor),
      args_(args),
      shard_(shard),
      partner_(actor, args.partner, kLookForPartner, finder),
      forwarding_(process().poster(actor.self().id.local),
                  process().options().link.most_under_way()),
      leads_(leads) {}

// ---- who leads ----

void ServerOrder::begin() {
  follows_ = !leads_;
  moved_.notify_all();
}

Task<void> ServerOrder::find_partner() {
  while (true) {
    Task<Result<void>> finding = partner_.find();
    const Result<void> found = co_await finding;
    if (found) break;
    co_await sleep(kTellAgain);
  }
}

bool ServerOrder::partner_is_gone() {
  if (process().is_dead(process_)) return true;
  const ProcessId found = partner_.process();
  const PeerIdentity* peer = process().identity_of(found);
  if (peer == nullptr) return process().is_dead(found);
  if (peer->incarnation == incarnation_) process_ = found;
  return process().is_dead(process_) || peer->incarnation > incarnation_;
}

bool ServerOrder::leads() {
  if (!leads_ && partner_is_gone()) lead();
  return leads_;
}

void ServerOrder::lead() {
  process().log(
      fmt::format("leads from push {} on, in place of {}#{}", taken_, args_.partner, incarnation_));
  leads_ = alone_ = true;
  follows_ = false;
  given_ = taken_;
  line_.clear();  // nobody knows that it has these
  moved_.notify_all();
}

// ---- the leader ----

Task<Result<PushReply>> ServerOrder::take(ActorId from, Push push) {
  if (!leads()) co_return Error{Errc::not_found, "it follows " + args_.partner};
  const auto one = std::make_shared<Numbered>();
  one->order = given_++;
  one->from = from;
  one->push = std::move(push);
  line_[one->order] = one;
  // Not by this handler, which ends with who asked: others wait for its turn.
  if (!alone_) run(tell_partner(one));
  go_on();
  while (!one->reply) co_await moved_.wait();
  co_return std::move(*one->reply);
}

Task<void> ServerOrder::tell_partner(std::shared_ptr<Numbered> one) {
  const std::uint64_t follower = followers_;
  const auto follows = [&] { return !alone_ && followers_ == follower; };
  auto free = forwarding_.take(bytes_of(one->push));  // in the order of numbers
  const ByteWindow::Share share = co_await free;
  while (follows()) {
    if (partner_is_gone()) {
      process().log(fmt::format("goes on without {}#{}", args_.partner, incarnation_));
      alone_ = true;
      break;
    }
    Task<Result<PushReply>> question =
        partner_.ask(Forward{one->order, one->push}, kWhileRanksCompute);
    const Result<PushReply> answer = co_await question;
    if (!answer && !is_wrong(answer.error())) {
      if (!partner_is_gone()) co_await sleep(kTellAgain);
      continue;
    }
    one->had_by = std::max(one->had_by, follower);
    break;
  }
  go_on();
}

Result<void> ServerOrder::begin_to_tell(ActorId follower) {
  const PeerIdentity* peer = process().identity_of(follower.process);
  if (peer == nullptr || peer->incarnation < incarnation_) {
    return Error{Errc::not_found, "another is there in its place"};
  }
  // The one before it is dead: it would not be there else.
  if (!leads_) lead();
  incarnation_ = peer->incarnation;
  process_ = follower.process;
  partner_.is_at({follower});
  alone_ = false;
  ++followers_;
  for (const auto& [order, one] : std::map(line_)) run(tell_partner(one));
  return {};
}

// ---- both ----

std::optional<std::uint32_t> ServerOrder::awaits(const Push& push) const {
  for (const Packet& packet : push.packets) {
    const bool copied = packet.chunk < chunks_.size();
    if (copied && chunks_[packet.chunk] == Copied::asked) return packet.chunk;
  }
  return shard_->behind(push);
}

void ServerOrder::go_on() {
  if (!taking_) run(take_line());
}

Task<void> ServerOrder::take_line() {
  taking_ = true;
  while (true) {
    const auto next = line_.find(taken_);
    if (next == line_.end()) break;
    const std::shared_ptr<Numbered> one = next->second;
    if (leads_ && !alone_ && one->had_by != followers_) break;
    if (const std::optional<std::uint32_t> chunk = awaits(one->push)) {
      co_await shard_.changed(*chunk).wait();
      continue;
    }
    line_.erase(next);
    ++taken_;
    take(*one);
    moved_.notify_all();
  }
  taking_ = false;
}

void ServerOrder::take(Numbered& one) {
  // What it has yet to ask for it gets with the copy.
  std::erase_if(one.push.packets, [&](const Packet& packet) {
    return packet.chunk < chunks_.size() && chunks_[packet.chunk] == Copied::absent;
  });
  const std::vector<std::uint32_t> chunks = shard_.chunks_of(one.push);
  one.reply = shard_.accept(std::move(one.push));
  // Of a follower the leader is not to blame: it has yet to see for itself.
  if (leads_) one.reply = blamed(process(), one.from, std::move(*one.reply));
  shard_.wake(chunks);
}

// ---- the follower ----

Task<Result<PushReply>> ServerOrder::take(ActorId from, Forward forward) {
  while (!follows_ && !leads_) co_await moved_.wait();
  const auto is_leader = [&] {
    const PeerIdentity* peer = process().identity_of(from.process);
    return !leads_ && peer != nullptr && peer->incarnation == incarnation_;
  };
  const Error other{Errc::not_found, "it does not follow this one"};
  if (!is_leader()) co_return other;
  if (forward.order < taken_) co_return PushReply{};
  if (forward.order > taken_ + kMostAhead) {
    const Error wrong{Errc::invalid_argument, "a push that is far ahead"};
    STERNA_CO_TRY(blamed(process(), from, Result<void>(wrong)));
  }
  // It may have come over another link before.
  std::shared_ptr<Numbered>& known = line_[forward.order];
  if (known == nullptr) known = std::make_shared<Numbered>();
  const std::shared_ptr<Numbered> one = known;
  if (one->push.packets.empty()) {
    one->order = forward.order;
    one->from = from;
    one->push = std::move(forward.push);
  }
  go_on();
  while (!one->reply) {
    if (!is_leader()) co_return other;
    co_await moved_.wait();
  }
  // The same may wait for its answer twice.
  co_return *one->reply;
}

void ServerOrder::follow(const BoardCopy& board, ProcessId leader) {
  taken_ = board.order;
  process_ = leader;
  if (const PeerIdentity* peer = process().identity_of(leader)) {
    incarnation_ = peer->incarnation;
  }
  chunks_.resize(shard_->table().chunks.size());
  // Until all chunks are there none is gathered for a checkpoint.
  shard_->kept().begin_behind(args_.job.steps);
  follows_ = true;
  moved_.notify_all();
}

Task<Result<void>> ServerOrder::copy(Peer<ParameterServerInterface>& partner) {
  ByteWindow window(process().poster(actor_.self().id.local),
                    process().options().link.most_under_way());
  std::deque<Task<Result<void>>> copying;
  for (const std::uint32_t chunk : shard_->table().chunks_of(args_.index)) {
    copying.push_back(copy_one(partner, window, chunk));
    copying.back().start();
  }
  for (Task<Result<void>>& one : copying) STERNA_CO_TRY(std::move(one));
  chunks_.clear();
  // What is gathered for checkpoints begins between two updates.
  Task<void> pausing = shard_.pause();
  co_await pausing;
  shard_->copied();
  shard_.resume();
  co_return {};
}

Task<Result<void>> ServerOrder::copy_one(Peer<ParameterServerInterface>& partner,
                                         ByteWindow& window, std::uint32_t chunk) {
  auto free = window.take(shard_->bytes_of_copy(chunk));
  const ByteWindow::Share share = co_await free;
  chunks_[chunk] = Copied::asked;
  Task<Result<ChunkCopy>> asking = partner.ask(CopyChunk{chunk, taken_}, kWhileRanksCompute);
  STERNA_CO_ASSIGN(const ChunkCopy copy, std::move(asking));
  STERNA_CO_TRY(shard_->take_copy(chunk, copy));
  chunks_[chunk] = Copied::there;
  shard_.changed(chunk).notify_all();
  shard_.update();
  co_return {};
}

}  // namespace sterna::actors
