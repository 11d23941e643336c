#include "launcher/page/page_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sterna::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// All that the stream has now, by pieces of `size`.
std::string read(HttpStream& stream, std::size_t size = 4096) {
  std::string all;
  std::string piece(size, '\0');
  for (std::optional<std::size_t> n; (n = stream.read(piece)) && *n > 0;) all.append(piece, 0, *n);
  return all;
}

TEST(PageHub, APageGetsWhatComesAfterWhatItHas) {
  const auto hub = std::make_shared<PageHub>();
  hub->push("status", "1");
  hub->push("story", "2");
  const auto page = hub->open(1);
  EXPECT_EQ(read(*page), "retry: 1000\n\nid: 2\nevent: story\ndata: 2\n\n");
  EXPECT_EQ(read(*page), "");
  hub->push("log", "3");
  EXPECT_EQ(read(*page), "id: 3\nevent: log\ndata: 3\n\n");
}

TEST(PageHub, APieceMayEndAnywhere) {
  const auto hub = std::make_shared<PageHub>();
  hub->push("status", "{}");
  for (const std::size_t size : {1, 3, 7, 20}) {
    EXPECT_EQ(read(*hub->open(0), size), "retry: 1000\n\nid: 1\nevent: status\ndata: {}\n\n");
  }
}

TEST(PageHub, WhoReadsTooSlowlyIsToldToAskForAllOfItAgain) {
  const auto hub = std::make_shared<PageHub>();
  hub->push("status", "1");
  const auto slow = hub->open(0);
  const std::string large(PageHub::kMostBytes / 4, 'x');
  for (int i = 0; i < 20; ++i) hub->push("status", large);
  const std::string told = read(*slow);
  EXPECT_THAT(told, EndsWith("id: 21\nevent: again\ndata: 0\n\n"));
  EXPECT_THAT(told, Not(HasSubstr("xxx")));
  hub->push("status", "last");
  EXPECT_THAT(read(*slow), EndsWith("data: last\n\n"));
}

TEST(PageHub, TheHundredAndFirstPageIsRefusedUntilOneGoes) {
  const auto hub = std::make_shared<PageHub>();
  std::vector<std::unique_ptr<HttpStream>> pages;
  for (std::size_t i = 0; i < PageHub::kMostPages; ++i) pages.push_back(hub->open(0));
  EXPECT_NE(pages.back(), nullptr);
  EXPECT_EQ(hub->open(0), nullptr);
  pages.pop_back();
  EXPECT_NE(hub->open(0), nullptr);
}

TEST(PageHub, AStreamEndsBehindTheLastEvent) {
  const auto hub = std::make_shared<PageHub>();
  const auto page = hub->open(0);
  hub->push("end", "why");
  hub->close();
  hub->push("status", "too late");
  std::string piece(4096, '\0');
  const std::optional<std::size_t> last = page->read(piece);
  ASSERT_TRUE(last.has_value());
  EXPECT_THAT(piece.substr(0, *last), EndsWith("event: end\ndata: why\n\n"));
  EXPECT_EQ(page->read(piece), std::nullopt);
}

TEST(PageHub, APageOfAnEarlierServerIsNotWaitedFor) {
  const auto hub = std::make_shared<PageHub>();
  hub->push("status", "1");
  const auto page = hub->open(1000);
  hub->push("status", "2");
  EXPECT_THAT(read(*page), EndsWith("id: 2\nevent: status\ndata: 2\n\n"));
}

}  // namespace
}  // namespace sterna::launcher
