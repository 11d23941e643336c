#include "actors/server/shard/rank_packets.h"

#include <algorithm>
#include <utility>

namespace sterna::actors {

RankPackets::RankPackets(std::uint32_t ranks, std::uint64_t first)
    : packets_(ranks), waits_(ranks), judged_(ranks, first), counted_(ranks) {}

std::vector<std::uint64_t> RankPackets::done() const {
  std::vector<std::uint64_t> done = judged_;
  for (std::size_t rank = 0; rank < done.size(); ++rank) done[rank] -= waits_[rank] ? 1 : 0;
  return done;
}

bool RankPackets::counted(std::uint32_t rank, std::uint64_t push) const {
  return std::ranges::count(counted_[rank], push + 1) > 0;
}

Verdict RankPackets::accept(std::uint32_t rank, std::uint64_t push, Verdict if_new,
                            Packet&& packet) {
  const std::uint64_t judged = judged_[rank];
  const bool is_new = push >= judged;
  Verdict verdict = if_new;
  if (counted(rank, push)) {
    verdict = Verdict::DUPLICATE;
  } else if (verdict == Verdict::ACCEPTED && !is_new) {
    // A rank that goes on in another worker may say again what came too late the first time.
    verdict = push + 1 == judged ? Verdict::DROPPED : Verdict::DUPLICATE;
  }
  if (is_new) judged_[rank] = push + 1;
  if (verdict == Verdict::ACCEPTED) {
    counted_[rank] = {push + 1, counted_[rank][0]};
    wait(rank, std::move(packet));
  }
  return verdict;
}

void RankPackets::wait(std::uint32_t rank, Packet&& packet) {
  packets_[rank] = std::move(packet);
  order_.push_back(rank);
  waits_[rank] = true;
}

Packet RankPackets::take(std::uint32_t rank) {
  being_made_.push_back(rank);
  return std::exchange(packets_[rank], {});
}

RankPackets::Taken RankPackets::take_first() {
  const std::uint32_t rank = order_.front();
  order_.pop_front();
  Taken taken{.ranks = {rank}, .packets = {}};
  taken.packets.push_back(take(rank));
  return taken;
}

RankPackets::Taken RankPackets::take_all() {
  Taken taken{.ranks = {order_.begin(), order_.end()}, .packets = {}};
  order_.clear();
  std::ranges::sort(taken.ranks);
  taken.packets.reserve(taken.ranks.size());
  for (const std::uint32_t rank : taken.ranks) taken.packets.push_back(take(rank));
  return taken;
}

void RankPackets::made() {
  for (const std::uint32_t rank : being_made_) waits_[rank] = false;
  being_made_.clear();
}

void RankPackets::add_to(ChunkCopy& copy) const {
  copy.judged = judged_;
  for (const LastCounted& last : counted_)
    copy.taken.insert(copy.taken.end(), last.begin(), last.end());
  for (const std::uint32_t rank : order_) copy.waiting.push_back({rank, packets_[rank]});
}

bool RankPackets::go_on_from(const ChunkCopy& copy) {
  const std::size_t ranks = judged_.size();
  if (copy.judged.size() != ranks || copy.taken.size() != 2 * ranks) return false;
  judged_ = copy.judged;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    counted_[rank] = {copy.taken[2 * rank], copy.taken[2 * rank + 1]};
  }
  return true;
}

void RankPackets::go_on_behind(std::uint64_t push) {
  std::ranges::fill(judged_, push);
  // The last two that led there are known to have counted.
  const std::uint64_t before = push > 0 ? push - 1 : 0;
  std::ranges::fill(counted_, LastCounted{push, before});
}

}  // namespace sterna::actors
