#include "runtime/actor/waiting_handlers.h"

#include <gtest/gtest.h>

#include <deque>

namespace sterna {
namespace {

struct Known final : WaitingHandlers::Handler {
  explicit Known(const WaitingHandlers::Question& question) : Handler(question) {}
};

TEST(WaitingHandlers, AreFoundByWhoAskedAndByTheNumberThatItGave) {
  WaitingHandlers all;
  Known first({{1}, 7});
  Known second({{2}, 7});
  Known third({{1}, 8});
  for (Known* each : {&first, &second, &third}) all.add(*each);
  EXPECT_EQ(all.find({{1}, 7}), &first);
  EXPECT_EQ(all.find({{2}, 7}), &second);
  EXPECT_EQ(all.find({{1}, 8}), &third);
  EXPECT_EQ(all.find({{2}, 8}), nullptr);
  all.remove(first);
  EXPECT_EQ(all.find({{1}, 7}), nullptr);
  EXPECT_EQ(all.find({{2}, 7}), &second);
}

TEST(WaitingHandlers, OfWhatWasToldThereAreNone) {
  WaitingHandlers all;
  Known told({{1}, 0});
  all.add(told);
  EXPECT_EQ(all.size(), 0U);
  EXPECT_EQ(all.find({{1}, 0}), nullptr);
  all.remove(told);
  EXPECT_EQ(all.size(), 0U);
}

TEST(WaitingHandlers, OfOneQuestionTheLastOneIsFoundFirstHoweverManyOthersThereAre) {
  WaitingHandlers all;
  Known first({{1}, 7});
  Known second({{1}, 7});
  all.add(first);
  all.add(second);
  std::deque<Known> others;
  for (std::uint64_t i = 100; i < 10'000; ++i) {
    all.add(others.emplace_back(WaitingHandlers::Question{{1}, i}));
  }
  for (std::uint64_t i = 100; i < 10'000; ++i) {
    ASSERT_EQ(all.find({{1}, i}), &others[i - 100]);
  }
  EXPECT_EQ(all.find({{1}, 7}), &second);
  all.remove(second);
  EXPECT_EQ(all.find({{1}, 7}), &first);
  for (Known& each : others) all.remove(each);
  EXPECT_EQ(all.size(), 1U);
}

}  // namespace
}  // namespace sterna
