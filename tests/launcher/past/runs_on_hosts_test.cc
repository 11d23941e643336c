// Which runs processes on hosts are of, and which of them a word means.
#include "launcher/past/runs_on_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sterna::launcher {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kOne = "0aaaaaaaaaaaaaaa";
constexpr const char* kOther = "0bbbbbbbbbbbbbbb";

std::vector<HostProcess> processes() {
  return {{"a", 1, "digits", kOne, "/opt/me/runs/digits-20260101T000000Z/logs/launcher.log", true},
          {"a", 2, "node-a", kOne, "/opt/me/runs/digits-20260101T000000Z/logs/node-a.log", false},
          {"b", 3, "node-b", kOther, "", false},  // joined by hand: it logs to a terminal
          {"b", 4, "worker0", kOther,
           "/opt/me/.cache/sterna/runs/mnist-20260101T000000Z-2-0123abcd/worker0.log", false},
          {"b", 5, "node-elsewhere", "0ccccccccccccccc", "", false}};
}

TEST(RunsOnHosts, AreThoseWithANodeUnderItsHostsName) {
  const std::vector<RunOnHosts> runs = runs_on_hosts(processes(), {});
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(listed(runs),
            "0aaaaaaaaaaaaaaa (digits-20260101T000000Z, on a), "
            "0bbbbbbbbbbbbbbb (mnist-20260101T000000Z-2, on b)");
  EXPECT_EQ(runs[0].name, "digits");
  EXPECT_EQ(runs[1].name, "mnist");
}

TEST(RunsOnHosts, AreNamedByNumberDirectoryOrNameInFull) {
  const std::vector<RunOnHosts> runs = runs_on_hosts(processes(), {});
  for (const char* word : {kOther, "mnist-20260101T000000Z-2", "mnist"}) {
    const Result<RunOnHosts> run = find_on_hosts(runs, word);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run->run, kOther);
  }
  for (const char* word : {"0", "0bbbbbbbb", "mnis", "mnist-2026", ""}) {
    const Result<RunOnHosts> run = find_on_hosts(runs, word);
    ASSERT_FALSE(run.ok()) << word;
    EXPECT_EQ(run.error().code, Errc::not_found);
    EXPECT_THAT(run.error().message, HasSubstr(listed(runs)));
  }
}

TEST(RunsOnHosts, OfOneNameAreNotGuessed) {
  RunState state;
  state.id = "by_hand";
  state.name = "digits";
  state.run = 0x0bbbbbbbbbbbbbbb;
  const std::vector<RunOnHosts> runs = runs_on_hosts(processes(), {state});
  EXPECT_EQ(find_on_hosts(runs, "digits").error().code, Errc::invalid_argument);
  EXPECT_EQ(find_on_hosts(runs, "by_hand")->run, kOther);
}

}  // namespace
}  // namespace sterna::launcher
