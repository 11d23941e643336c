// The lines of a schedule.
#include "launcher/simulate/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/simulate/scene.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;

TEST(Faults, ALineOfEachKindIsReadAsItIsWritten) {
  const std::string text =
      "at 12ms kill worker0\n"
      "at 1s freeze reader0 for 6s\n"
      "at 1s cut server0 worker1\n"
      "at 1s cut server0 worker1 for 300ms\n"
      "at 2s part server0 worker1 for 1ms\n"
      "at 2s stall worker1 server0 for 2500us\n"
      "at 2s isolate h1 for 20s\n"
      "at 2s deafen h0 for 1s\n"
      "at 2s mute h0 for 1s\n"
      "at 2s recall h0 for 1s\n"
      "at 2s unmount h0 for 1s\n"
      "at 2s fill h0 for 1s\n"
      "at 2s tear checkpoints\n"
      "at 2s slow h0 by 40ms for 1s\n"
      "at 2s delay worker0 by 5ms for 300ms\n"
      "at 2s drop reader0 for 1s\n"
      "starting 20ms kill coordinator\n"
      "before Push 17 of worker0 kill worker0\n"
      "behind Rejoined 2 of server0 freeze worker1 for 1s\n"
      "before Pull 3 of worker1 repeat worker1\n";
  const auto schedule = read_schedule(text);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_EQ(schedule->size(), 20U);
  EXPECT_EQ(text_of(*schedule), text);
}

TEST(Faults, WhatASeedDrawsIsReadAsItIsWritten) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<Fault> schedule = draw_scene(seed).value().schedule;
    EXPECT_GE(schedule.size(), 5U);
    const auto read = read_schedule("# of a seed\n\n" + text_of(schedule));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, schedule) << seed;
  }
}

TEST(Faults, WhatIsNoneIsNamedWithItsLine) {
  for (const char* line : {"kill worker0",
                           "at once kill worker0",
                           "at 1s hit worker0",
                           "at 1s kill",
                           "at 1s kill worker0 for 2s",
                           "at 1s isolate h0",
                           "at 1s recall h0",
                           "at 1s unmount h0",
                           "at 1s fill h0",
                           "at 1s tear h0 for 1s",
                           "at 1s slow h0 for 1s",
                           "at 1s slow h0 by 1ms",
                           "at 1s freeze worker0",
                           "at 1s part server0 for 2s",
                           "at 1s freeze worker0 for long",
                           "at 1s freeze worker0 for 2s more",
                           "before Push of worker0 kill worker0",
                           "before Shove 1 of worker0 kill worker0",
                           "after Push 1 of worker0 kill worker0",
                           "at 1s repeat worker0",
                           "at 1s delay worker0 for 1s",
                           "at 1s delay worker0 by 1ms",
                           "at 1s drop worker0",
                           "at 1s drop worker0 by 1ms for 1s"}) {
    const auto read = read_schedule("\n" + std::string(line));
    ASSERT_FALSE(read.ok()) << line;
    EXPECT_THAT(read.error().message, HasSubstr("line 2: \"" + std::string(line)));
  }
}

}  // namespace
}  // namespace sterna::launcher
