#include "launcher/record/link_troubles.h"

#include <gtest/gtest.h>

#include <utility>

namespace sterna::launcher {
namespace {

TEST(LinkTroubles, OnlyOneThatLastsIsWorthAWordAndAllAreCounted) {
  RunRecord record;
  LinkTrouble trouble;
  trouble.from_name = "worker0";
  trouble.to_name = "server1";
  trouble.cause = "silence";
  trouble.lasts = std::chrono::milliseconds(40);
  trouble.over = true;
  EXPECT_EQ(note_link_trouble(record, trouble), "");
  trouble.over = false;
  EXPECT_EQ(note_link_trouble(record, trouble),
            "worker0 and server1 do not reach each other (silence): they go on trying");
  // Of its end the one who dialled tells, whoever told of its beginning.
  std::swap(trouble.from_name, trouble.to_name);
  trouble.over = true;
  trouble.lasts = std::chrono::milliseconds(3240);
  EXPECT_EQ(note_link_trouble(record, trouble),
            "server1 and worker0 reach each other again, after 3.2 s");
  EXPECT_EQ(record.status.relinked, 2U);
  EXPECT_EQ(record.result.relinked, 2U);
}

TEST(LinkTroubles, ASlowLinkHasBothEndsAndIsInTheStatusUntilItIsOver) {
  RunRecord record;
  LinkPace pace;
  pace.from_name = "worker0";
  pace.from_host = "c";
  pace.to_name = "server1";
  pace.to_host = "a";
  pace.rate = 3'100'000;
  EXPECT_EQ(note_link_pace(record, pace, 10'000'000),
            "the link from worker0 on c to server1 on a carries at most 3.10 MB/s, less than the "
            "10MB/s of cluster.slow_link");
  const std::vector<SlowLink> expected = {{"worker0", "c", "server1", "a", 3'100'000}};
  EXPECT_EQ(record.status.slow_links, expected);
  LinkPace other = pace;
  std::swap(other.from_name, other.to_name);
  (void)note_link_pace(record, other, 10'000'000);
  pace.over = true;
  pace.lasts = std::chrono::milliseconds(3240);
  EXPECT_EQ(note_link_pace(record, pace, 10'000'000),
            "the link from worker0 on c to server1 on a is slow no more, after 3.2 s");
  ASSERT_EQ(record.status.slow_links.size(), 1U);
  EXPECT_EQ(record.status.slow_links[0].from, "server1");
}

}  // namespace
}  // namespace sterna::launcher
