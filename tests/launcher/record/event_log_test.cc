#include "launcher/record/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/text/growing_file.h"
#include "runtime/base/file.h"
#include "tests/launcher/test_clock.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class EventLogTest : public testing::Test {
 protected:
  EventLog open(std::uint64_t most) {
    return {LineFile::create(path_).value(), [](const std::string&) {}, clock_,
            [] { return 1764021003.75; }, most};
  }
  std::vector<Event> written() {
    std::vector<Event> events;
    for (const std::string& line : GrowingFile(path_).lines()) {
      const Result<Event> event = parse_event(line);
      EXPECT_TRUE(event.ok()) << line;
      if (event) events.push_back(*event);
    }
    return events;
  }
  TestClock clock_;
  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/events.jsonl";
};

Event restart_of(std::uint64_t incarnation) {
  Event event;
  event.kind = "actor_restart";
  event.step = 1234;
  event.actor = "worker0";
  event.incarnation = incarnation;
  event.cause = "killed by SIGKILL";
  return event;
}

TEST_F(EventLogTest, WhatIsWrittenIsReadAndShown) {
  EventLog log = open(10);
  log.append(restart_of(2));
  Event relinked;
  relinked.kind = "relinked";
  relinked.actor = "worker0, server1";
  relinked.cause = "silence";
  relinked.seconds = 0.0042;
  log.append(relinked);
  ASSERT_TRUE(log.close().ok());
  const std::vector<Event> events = written();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(to_text(events[0]),
            "2025-11-24T21:50:03Z  step 1,234    actor_restart      worker0#2  killed by SIGKILL");
  EXPECT_EQ(to_text(events[1]),
            "2025-11-24T21:50:03Z  step 0        relinked           worker0, server1  silence  "
            "(0.0042 s)");
}

TEST_F(EventLogTest, ItIsNeverLongerThanItMayBe) {
  EventLog log = open(3);
  for (std::uint64_t i = 1; i <= 9; ++i) log.append(restart_of(i));
  ASSERT_TRUE(log.close().ok());
  const std::vector<Event> events = written();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].incarnation, 2U);
  EXPECT_EQ(events[2].kind, "full");
}

TEST(Events, WhatIsNoneIsSaidSo) {
  EXPECT_THAT(parse_event("nonsense").error().message, HasSubstr("is no event of this program"));
  for (const char* line :
       {R"({"kind":"death"})", R"({"time":1,"kind":"death"})", "[]", "7",
        R"({"time":"now","kind":"death","step":1})", R"({"time":1,"kind":7,"step":1})"}) {
    const Result<Event> event = parse_event(line);
    ASSERT_FALSE(event.ok()) << line;
    EXPECT_EQ(event.error().message, "is no event of this program") << line;
  }
}

TEST(Events, OfATimeOrAStepThatNobodyLivesInAreTold) {
  const auto told = [](const std::string& time, const std::string& step) {
    return to_text(
        parse_event("{\"time\":" + time + ",\"kind\":\"x\",\"step\":" + step + "}").value());
  };
  EXPECT_THAT(told("1e17", "1"), StartsWith("9999-12-31T23:59:59Z  step 1 "));
  EXPECT_THAT(told("-1e300", "1e300"),
              StartsWith("1970-01-01T00:00:00Z  step 1,000,000,000,000,000 "));
}

}  // namespace
}  // namespace sterna::launcher
