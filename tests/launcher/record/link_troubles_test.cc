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

}  // namespace
}  // namespace sterna::launcher
