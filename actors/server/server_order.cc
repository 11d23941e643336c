// Two servers of a shard whose ranks do not go in step. One leads: workers push to it alone, it
// gives each push a number and tells the other, which follows: both take the pushes in that order,
// and so make the same versions, bit for bit. What is late, or makes a version, depends on nothing
// else.
//
// The leader takes a push once the follower has, and answers then. So all that a worker knows of,
// verdicts and versions, both have, and whichever is lost the other goes on. What the lost leader
// had taken and not answered its worker pushes again, and it is known (Shard::accept).
//
// Who leads follows from what the coordinator says, never from what the two see of each other: at
// first the server of the two, then always the one that was not lost. Whoever comes in the place of
// a lost one follows; who follows leads once it is told that the leader is dead, or the next
// incarnation of that asks it. A leader whose follower is silent waits for that word.
//
// A new follower is told of all pushes that the leader has yet to take, and copies the chunks
// meanwhile. Of a chunk that it has not asked for it passes packets over: the copy will have them,
// as the leader waits with it until it has taken all that the follower had when it asked.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "actors/server/parameter_server.h"

namespace sterna::actors {
namespace {

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

// ---- who leads ----

Task<void> ParameterServer::find_partner() {
  while (true) {
    Task<Result<void>> finding = partner_->find();
    const Result<void> found = co_await std::move(finding);
    if (found) break;
    co_await sleep(kTellAgain);
  }
}

bool ParameterServer::partner_is_gone() {
  if (process().is_dead(order_.process)) return true;
  const ProcessId found = partner_->process();
  const PeerIdentity* peer = process().identity_of(found);
  if (peer == nullptr) return process().is_dead(found);
  if (peer->incarnation == order_.incarnation) order_.process = found;
  return process().is_dead(order_.process) || peer->incarnation > order_.incarnation;
}

bool ParameterServer::leads() {
  if (!order_.leads && filled_ && partner_is_gone()) lead();
  return order_.leads;
}

void ParameterServer::lead() {
  log(fmt::format("leads from push {} on, in place of {}#{}", order_.taken, args_.partner,
                  order_.incarnation));
  order_.leads = order_.alone = true;
  order_.follows = false;
  order_.given = order_.taken;
  order_.line.clear();  // nobody knows that it has these
  order_.moved.notify_all();
}

// ---- the leader ----

Task<Result<PushReply>> ParameterServer::take_ordered(ActorId from, Push push) {
  if (refilling()) co_return not_yet();
  co_await prepared();
  STERNA_CO_TRY(blamed(from, may_speak(from, push.rank, push.incarnation)));
  if (!leads()) co_return Error{Errc::not_found, "it follows " + args_.partner};
  const auto one = std::make_shared<Numbered>();
  one->order = order_.given++;
  one->from = from;
  one->push = std::move(push);
  order_.line[one->order] = one;
  // Not by this handler, which ends with who asked: others wait for its turn.
  if (!order_.alone) run(tell_partner(one));
  go_on();
  while (!one->verdicts) co_await order_.moved.wait();
  STERNA_CO_ASSIGN(std::vector<Verdict> verdicts, std::move(*one->verdicts));
  co_return PushReply{std::move(verdicts)};
}

Task<void> ParameterServer::tell_partner(std::shared_ptr<Numbered> one) {
  const std::uint64_t follower = order_.followers;
  const auto follows = [&] { return !order_.alone && order_.followers == follower; };
  auto free = forwarding_->take(bytes_of(one->push));  // in the order of numbers
  const ByteWindow::Share share = co_await free;
  while (follows()) {
    if (partner_is_gone()) {
      log(fmt::format("goes on without {}#{}", args_.partner, order_.incarnation));
      order_.alone = true;
      break;
    }
    Task<Result<PushReply>> question =
        partner_->ask(Forward{one->order, one->push}, kWhileRanksCompute);
    const Result<PushReply> answer = co_await std::move(question);
    if (!answer && !is_wrong(answer.error())) {
      if (!partner_is_gone()) co_await sleep(kTellAgain);
      continue;
    }
    one->had_by = std::max(one->had_by, follower);
    break;
  }
  go_on();
}

Result<void> ParameterServer::begin_to_tell(ActorId follower) {
  const PeerIdentity* peer = process().identity_of(follower.process);
  if (peer == nullptr || peer->incarnation < order_.incarnation) {
    return Error{Errc::not_found, "another is there in its place"};
  }
  // The one before it is dead: it would not be there else.
  if (!order_.leads) lead();
  order_.incarnation = peer->incarnation;
  order_.process = follower.process;
  partner_->is_at({follower});
  order_.alone = false;
  ++order_.followers;
  for (const auto& [order, one] : std::map(order_.line)) run(tell_partner(one));
  return {};
}

// ---- both ----

std::optional<std::uint32_t> ParameterServer::awaits(const Push& push) const {
  for (const Packet& packet : push.packets) {
    const bool copied = packet.chunk < order_.chunks.size();
    if (copied && order_.chunks[packet.chunk] == Order::Chunk::asked) return packet.chunk;
  }
  return shard_->behind(push);
}

void ParameterServer::go_on() {
  if (!order_.taking) run(take_line());
}

Task<void> ParameterServer::take_line() {
  order_.taking = true;
  while (true) {
    const auto next = order_.line.find(order_.taken);
    if (next == order_.line.end()) break;
    const std::shared_ptr<Numbered> one = next->second;
    if (order_.leads && !order_.alone && one->had_by != order_.followers) break;
    if (const std::optional<std::uint32_t> chunk = awaits(one->push)) {
      co_await shard_.changed(*chunk).wait();
      continue;
    }
    order_.line.erase(next);
    ++order_.taken;
    take(*one);
    order_.moved.notify_all();
  }
  order_.taking = false;
}

void ParameterServer::take(Numbered& one) {
  // What it has yet to ask for it gets with the copy.
  std::erase_if(one.push.packets, [&](const Packet& packet) {
    return packet.chunk < order_.chunks.size() &&
           order_.chunks[packet.chunk] == Order::Chunk::absent;
  });
  const std::vector<std::uint32_t> chunks = shard_.chunks_of(one.push);
  one.verdicts = shard_.accept(std::move(one.push));
  // Of a follower the leader is not to blame: it has yet to see for itself.
  if (order_.leads) one.verdicts = blamed(one.from, std::move(*one.verdicts));
  shard_.wake(chunks);
}

// ---- the follower ----

Task<Result<PushReply>> ParameterServer::on(Forward forward) {
  const ActorId from = sender();
  STERNA_CO_TRY(blamed(from, from_partner(from)));
  while (!order_.follows && !order_.leads) co_await order_.moved.wait();
  const auto is_leader = [&] {
    const PeerIdentity* peer = process().identity_of(from.process);
    return !order_.leads && peer != nullptr && peer->incarnation == order_.incarnation;
  };
  const Error other{Errc::not_found, "it does not follow this one"};
  if (!is_leader()) co_return other;
  if (forward.order < order_.taken) co_return PushReply{};
  if (forward.order > order_.taken + kMostAhead) {
    const Error wrong{Errc::invalid_argument, "a push that is far ahead"};
    STERNA_CO_TRY(blamed(from, Result<void>(wrong)));
  }
  // It may have come over another link before.
  std::shared_ptr<Numbered>& known = order_.line[forward.order];
  if (known == nullptr) known = std::make_shared<Numbered>();
  const std::shared_ptr<Numbered> one = known;
  if (one->push.packets.empty()) {
    one->order = forward.order;
    one->from = from;
    one->push = std::move(forward.push);
  }
  go_on();
  while (!one->verdicts) {
    if (!is_leader()) co_return other;
    co_await order_.moved.wait();
  }
  // The same may wait for its answer twice.
  if (!*one->verdicts) co_return Error(one->verdicts->error());
  co_return PushReply{**one->verdicts};
}

void ParameterServer::follow(const BoardCopy& board, ProcessId leader) {
  order_.taken = board.order;
  order_.process = leader;
  if (const PeerIdentity* peer = process().identity_of(leader)) {
    order_.incarnation = peer->incarnation;
  }
  order_.chunks.resize(shard_->table().chunks.size());
  // Until all chunks are there none is gathered for a checkpoint.
  shard_->kept().begin_behind(args_.job.steps);
  order_.follows = true;
  order_.moved.notify_all();
}

Task<Result<void>> ParameterServer::copy_in_order(Shard& shard,
                                                  Peer<ParameterServerInterface>& partner) {
  ByteWindow window(poster(), process().options().link.most_under_way());
  std::deque<Task<Result<void>>> copying;
  for (const std::uint32_t chunk : shard.table().chunks_of(args_.index)) {
    copying.push_back(copy_one_in_order(shard, partner, window, chunk));
    copying.back().start();
  }
  for (Task<Result<void>>& one : copying) STERNA_CO_TRY(std::move(one));
  order_.chunks.clear();
  // What is gathered for checkpoints begins between two updates.
  Task<void> pausing = shard_.pause();
  co_await std::move(pausing);
  co_return {};
}

Task<Result<void>> ParameterServer::copy_one_in_order(Shard& shard,
                                                      Peer<ParameterServerInterface>& partner,
                                                      ByteWindow& window, std::uint32_t chunk) {
  auto free = window.take(shard.bytes_of_copy(chunk));
  const ByteWindow::Share share = co_await free;
  order_.chunks[chunk] = Order::Chunk::asked;
  Task<Result<ChunkCopy>> asking = partner.ask(CopyChunk{chunk, order_.taken}, kWhileRanksCompute);
  STERNA_CO_ASSIGN(const ChunkCopy copy, std::move(asking));
  STERNA_CO_TRY(shard.take_copy(chunk, copy));
  order_.chunks[chunk] = Order::Chunk::there;
  shard_.changed(chunk).notify_all();
  shard_.update();
  co_return {};
}

}  // namespace sterna::actors
