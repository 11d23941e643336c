// What bounds a run is named as it is, in jobs that are made to be bound by each; and what a rank
// is at adds up to its steps.
#include "launcher/traces/trace_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/launcher/traces/made_trace.h"

namespace sterna::launcher {
namespace {

using actors::Part;
using test::MadeJob;

struct Case {
  const char* name;
  MadeJob job;
  const char* bound;
  std::optional<std::uint32_t> straggler = {};
};

void PrintTo(const Case& one, std::ostream* to) { *to << one.name; }

class BoundTest : public testing::TestWithParam<Case> {};

TEST_P(BoundTest, IsNamedWhateverTheSeed) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Result<RunTrace> trace = make_run_trace(test::made_spans(GetParam().job, seed), {});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    const TraceSummary summary = summary_of(*trace);
    EXPECT_EQ(summary.bound, GetParam().bound) << seed << "\n" << to_text(summary);
    if (GetParam().straggler) {
      EXPECT_EQ(summary.straggler, GetParam().straggler) << seed;
    }
    double sum = summary.other;
    for (const double part : summary.exposed) sum += part;
    EXPECT_NEAR(sum, 1, 1e-3);
    EXPECT_LE(summary.other, 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, BoundTest,
    testing::Values(Case{"balanced", {}, "compute"}, Case{"two_ranks", {.ranks = 2}, "compute"},
                    Case{"one_rank", {.ranks = 1}, "compute"},
                    Case{"eight_uneven_ranks", {.ranks = 8, .unevenness = 0.6}, "compute"},
                    Case{"up", {.up = 25}, "up"}, Case{"down", {.down = 25}, "down"},
                    Case{"server", {.server = 25}, "server"},
                    Case{"delayed_rank", {.delayed = 2}, "straggler", 2},
                    Case{"slow_rank", {.slow_rank = 3}, "straggler", 3},
                    Case{"slow_of_two", {.ranks = 2, .slow_rank = 1}, "straggler", 1},
                    Case{"slow_reader", {.read = 40}, "input"},
                    Case{"slow_reader_of_one_rank", {.slow_reader_of = 1, .slow = 40}, "input"}),
    [](const auto& one) { return one.param.name; });

TEST(TraceSummary, IsTenLinesAndAnObjectOfTheSame) {
  const Result<RunTrace> trace = make_run_trace(test::made_spans({.delayed = 2}, 1), {});
  ASSERT_TRUE(trace.ok());
  const TraceSummary summary = summary_of(*trace);
  const std::string text = to_text(summary);
  EXPECT_EQ(std::ranges::count(text, '\n'), 10);
  EXPECT_THAT(text, testing::StartsWith("steps     100 to 119, of 4 ranks: "));
  EXPECT_THAT(text, testing::EndsWith("bound by  straggler, rank 2\n"));
  const auto json = nlohmann::json::parse(to_json(summary));
  EXPECT_EQ(json["bound"], "straggler");
  EXPECT_EQ(json["straggler"], 2);
  EXPECT_EQ(json["exposed"].size(), actors::kPartNames.size() + 1);
  EXPECT_NEAR(json["exposed"]["injected delay"].get<double>(),
              summary.exposed[static_cast<std::size_t>(Part::delay)], 1e-12);
}

TEST(StepParts, EncodingIsNoPartOfTheBackwardPassThatItIsIn) {
  const Result<RunTrace> trace = make_run_trace(test::made_spans({.unevenness = 0}, 1), {});
  ASSERT_TRUE(trace.ok());
  const RankStep step = steps_of(*trace)[5];
  EXPECT_NEAR(step.part(Part::encode) / 1e6, 0.5, 1e-3);
  EXPECT_NEAR(step.part(Part::backward) / 1e6, 20.0 / 3 - 0.5, 1e-3);
  EXPECT_NEAR(step.part(Part::forward) / 1e6, 10.0 / 3, 1e-3);
}

}  // namespace
}  // namespace sterna::launcher
