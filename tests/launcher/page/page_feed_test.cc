#include "launcher/page/page_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/text/growing_file.h"
#include "launcher/text/json_line.h"
#include "tests/temporary_folder.h"

namespace sterna::launcher {
namespace {

class PageFeedTest : public testing::Test {
 protected:
  static std::string evaluation(int step, std::size_t bytes = 0) {
    return json_line({{"kind", "evaluation"}, {"step", step}, {"more", std::string(bytes, 'x')}}) +
           "\n";
  }
  std::ofstream metrics(std::ios::openmode mode) const {
    return std::ofstream(folder / "metrics.jsonl", mode);
  }
  /// As soon as they have an evaluation.
  static Json facts_of(const PageFeed& feed) {
    while (true) {
      Json facts = Json::parse(feed.facts());
      if (!facts["story"]["evaluations"].empty()) return facts;
    }
  }
  static std::vector<int> steps(const Json& story) {
    std::vector<int> steps;
    if (!story.contains("evaluations")) return steps;
    for (const Json& one : story["evaluations"]) steps.push_back(one["step"]);
    return steps;
  }
  /// What a page is told that knows of `facts`, up to `end` at least.
  static std::string told_until(std::string_view end, const PageFeed& feed, const Json& facts) {
    const auto stream = feed.open(facts["last"].get<std::uint64_t>());
    std::string text;
    std::array<char, 4096> piece{};
    while (!text.ends_with("\n\n") || text.find(end) == std::string::npos) {
      text.append(piece.data(), stream->read(piece).value());
    }
    return text;
  }
  TemporaryFolder folder;
};

TEST_F(PageFeedTest, APageThatOpensWhileMuchIsReadIsToldEachLineOnce) {
  constexpr int kLines = 128;  // in four pieces
  std::ofstream out = metrics(std::ios::out);
  for (int i = 0; i < kLines; ++i) out << evaluation(i, GrowingFile::kLongest / 2);
  out.close();
  PageFeed feed(folder.path());
  const Json facts = facts_of(feed);
  std::vector<int> seen = steps(facts["story"]);
  std::istringstream events;
  if (seen.back() != kLines - 1) {
    events.str(told_until("\"step\":" + std::to_string(kLines - 1), feed, facts));
  }
  for (std::string line; std::getline(events, line);) {
    if (!line.starts_with("data: {")) continue;
    for (const int step : steps(Json::parse(line.substr(6)))) seen.push_back(step);
  }
  EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), static_cast<std::size_t>(kLines));
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kLines));
}

TEST_F(PageFeedTest, WhereMetricsAreBegunAnewSoIsTheStory) {
  metrics(std::ios::out) << evaluation(1) << evaluation(2);
  PageFeed feed(folder.path());
  const Json facts = facts_of(feed);
  metrics(std::ios::trunc) << evaluation(7);
  told_until("event: again\n", feed, facts);
  EXPECT_THAT(steps(facts_of(feed)["story"]), testing::ElementsAre(7));
}

}  // namespace
}  // namespace sterna::launcher
