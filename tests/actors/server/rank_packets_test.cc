#include "actors/server/shard/rank_packets.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "runtime/base/random.h"

namespace sterna::actors {
namespace {

/// Of this rank and push, as a test knows it again.
Packet packet(std::uint32_t rank, std::uint64_t push) {
  return {.count = push, .payload = {}, .base_version = rank};
}

Verdict accept(RankPackets& packets, std::uint32_t rank, std::uint64_t push,
               Verdict if_new = Verdict::ACCEPTED) {
  return packets.accept(rank, push, if_new, packet(rank, push));
}

std::vector<std::uint64_t> pushes_of(const RankPackets::Taken& taken) {
  std::vector<std::uint64_t> pushes;
  for (const Packet& one : taken.packets) pushes.push_back(one.count);
  return pushes;
}

/// Another one that goes on from a copy of it.
RankPackets copy_of(const RankPackets& packets, std::uint32_t ranks) {
  ChunkCopy copy;
  packets.add_to(copy);
  RankPackets other(ranks, 0);
  EXPECT_TRUE(other.go_on_from(copy));
  for (ChunkCopy::Waiting& one : copy.waiting) other.wait(one.rank, std::move(one.packet));
  return other;
}

TEST(RankPackets, AreTakenAsTheyCameOrAllInTheOrderOfTheirRanks) {
  for (const bool one : {true, false}) {
    RankPackets packets(4, 7);
    for (const std::uint32_t rank : {3U, 0U, 2U}) accept(packets, rank, 7);
    const RankPackets::Taken taken = one ? packets.take_first() : packets.take_all();
    EXPECT_EQ(taken.ranks,
              one ? std::vector<std::uint32_t>{3} : (std::vector<std::uint32_t>{0, 2, 3}));
    for (std::size_t i = 0; i < taken.ranks.size(); ++i) {
      EXPECT_EQ(taken.packets[i].base_version, taken.ranks[i]);
    }
  }
}

TEST(RankPackets, OneWaitsUntilTheVersionIsMadeThatItIsTakenFor) {
  RankPackets packets(2, 0);
  accept(packets, 1, 0);
  EXPECT_TRUE(packets.waits(1));
  EXPECT_EQ(packets.done(), (std::vector<std::uint64_t>{0, 0}));
  packets.take_all();
  EXPECT_TRUE(packets.waits(1)) << "the version is being made";
  EXPECT_EQ(packets.waiting(), 1U);
  EXPECT_EQ(packets.done()[1], 0U);
  accept(packets, 0, 0);
  EXPECT_EQ(packets.waiting(), 2U);
  packets.made();
  EXPECT_FALSE(packets.waits(1));
  EXPECT_TRUE(packets.waits(0)) << "it came too late for that version";
  EXPECT_EQ(packets.waiting(), 1U);
  EXPECT_EQ(packets.done(), (std::vector<std::uint64_t>{0, 1}));
}

TEST(RankPackets, WhatCountedIsADuplicateWhateverBecameOfItToday) {
  RankPackets packets(1, 0);
  EXPECT_EQ(accept(packets, 0, 0), Verdict::ACCEPTED);
  EXPECT_EQ(accept(packets, 0, 0, Verdict::DROPPED), Verdict::DUPLICATE);
  packets.take_all();
  packets.made();
  EXPECT_EQ(accept(packets, 0, 1), Verdict::ACCEPTED);
  for (const std::uint64_t push : {0U, 1U}) {
    EXPECT_EQ(accept(packets, 0, push), Verdict::DUPLICATE) << push;
    EXPECT_EQ(accept(packets, 0, push, Verdict::DROPPED), Verdict::DUPLICATE) << push;
  }
  packets.take_all();
  packets.made();
  accept(packets, 0, 2);
  EXPECT_EQ(accept(packets, 0, 0), Verdict::DUPLICATE) << "nobody remembers, and it is not new";
  EXPECT_EQ(accept(packets, 0, 0, Verdict::DROPPED), Verdict::DROPPED);
}

TEST(RankPackets, WhatCameTooLateDoesNotCountWhenItIsSaidAgain) {
  RankPackets packets(1, 3);
  EXPECT_EQ(accept(packets, 0, 3, Verdict::DROPPED), Verdict::DROPPED);
  EXPECT_EQ(packets.judged(0), 4U);
  EXPECT_EQ(packets.done()[0], 4U) << "nothing of it waits";
  EXPECT_EQ(accept(packets, 0, 3), Verdict::DROPPED);
  EXPECT_FALSE(packets.waits(0));
  EXPECT_EQ(accept(packets, 0, 4), Verdict::ACCEPTED);
}

TEST(RankPackets, GoOnBehindAPushOfWhichTheLastTwoAreKnownToHaveCounted) {
  RankPackets packets(2, 0);
  packets.go_on_behind(5);
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_EQ(packets.judged(rank), 5U);
    EXPECT_EQ(accept(packets, rank, 3, Verdict::DROPPED), Verdict::DUPLICATE);
    EXPECT_EQ(accept(packets, rank, 4, Verdict::DROPPED), Verdict::DUPLICATE);
    EXPECT_EQ(accept(packets, rank, 2, Verdict::DROPPED), Verdict::DROPPED);
    EXPECT_EQ(accept(packets, rank, 5), Verdict::ACCEPTED);
  }
}

TEST(RankPackets, ACopyOfAnotherNumberOfRanksIsRefusedAndChangesNothing) {
  RankPackets packets(2, 0);
  accept(packets, 0, 0);
  ChunkCopy copy;
  packets.add_to(copy);
  for (const std::uint32_t ranks : {1U, 3U}) {
    RankPackets other(ranks, 0);
    EXPECT_FALSE(other.go_on_from(copy));
    EXPECT_EQ(other.judged(0), 0U);
    EXPECT_EQ(accept(other, 0, 0), Verdict::ACCEPTED);
  }
  copy.taken.pop_back();
  EXPECT_FALSE(RankPackets(2, 0).go_on_from(copy));
}

/// Ranks say their pushes in their order, and at any time again what they have said; some come too
/// late. A copy is taken now and then, and goes on in the place of the first.
class AnyOrder : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint32_t kRanks = 3;

  void say(std::uint32_t rank, std::uint64_t push) {
    const bool waited = packets.waits(rank);
    const Verdict if_new = random.below(4) == 0 ? Verdict::DROPPED : Verdict::ACCEPTED;
    const Verdict verdict = accept(packets, rank, push, if_new);
    if (verdict == Verdict::ACCEPTED) {
      EXPECT_TRUE(accepted.emplace(rank, push).second) << "twice: " << push << " of " << rank;
      EXPECT_FALSE(waited);
    }
    EXPECT_EQ(packets.waits(rank), waited || verdict == Verdict::ACCEPTED);
  }
  void make_version() {
    RankPackets::Taken taken = random.below(2) == 0 ? packets.take_first() : packets.take_all();
    const std::vector<std::uint64_t> pushes = pushes_of(taken);
    for (std::size_t i = 0; i < pushes.size(); ++i) {
      EXPECT_TRUE(accepted.contains({taken.ranks[i], pushes[i]}));
      EXPECT_TRUE(applied.emplace(taken.ranks[i], pushes[i]).second);
    }
    say_again(4);  // while it is being made
    packets.made();
  }
  void say_again(int times) {
    for (; times > 0; --times) {
      const auto rank = static_cast<std::uint32_t>(random.below(kRanks));
      if (next[rank] > 0) say(rank, random.below(next[rank]));
    }
  }

  SeededRandom random{GetParam()};
  RankPackets packets{kRanks, 0};
  std::map<std::uint32_t, std::uint64_t> next;  // push of a rank
  std::set<std::pair<std::uint32_t, std::uint64_t>> accepted, applied;
};

TEST_P(AnyOrder, EachPushIsAcceptedOnceAndAppliedOnceAndOneOfARankWaits) {
  for (int step = 0; step < 400; ++step) {
    const auto rank = static_cast<std::uint32_t>(random.below(kRanks));
    if (!packets.waits(rank)) say(rank, next[rank]++);
    say_again(2);
    EXPECT_EQ(packets.waiting(), accepted.size() - applied.size());
    if (packets.waiting() > 0 && random.below(3) == 0) make_version();
    if (random.below(10) == 0) packets = copy_of(packets, kRanks);
  }
  while (packets.waiting() > 0) make_version();
  EXPECT_EQ(applied, accepted);
  EXPECT_GT(accepted.size(), 100U);
}

INSTANTIATE_TEST_SUITE_P(RankPackets, AnyOrder, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace sterna::actors
