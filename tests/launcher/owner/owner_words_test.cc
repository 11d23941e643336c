#include "launcher/owner/owner_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace sterna::launcher {
namespace {

TEST(OwnerWords, HaveAllTheirPartsOnTheOtherSide) {
  const Bytes written = as_written({"over", "precision@1 0.99", copy_bytes("{}"), -1});
  std::vector<OwnerWord> words;
  WordReader reader([&](OwnerWord word) { words.push_back(std::move(word)); });
  ASSERT_TRUE(reader.take(text_of(written.view())));
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].kind, "over");
  EXPECT_EQ(words[0].text, "precision@1 0.99");
  EXPECT_EQ(text_of(words[0].data.view()), "{}");
  EXPECT_EQ(words[0].number, -1);
}

TEST(OwnerWords, ArriveWholeHoweverTheStreamIsCut) {
  const Bytes first = as_written({"place", "b", {}, 7});
  const Bytes second = as_written({"over", std::string(5000, 'x'), {}, -1});
  std::string stream(reinterpret_cast<const char*>(first.data()), first.size());
  stream.append(reinterpret_cast<const char*>(second.data()), second.size());
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    std::vector<OwnerWord> words;
    WordReader reader([&](OwnerWord word) { words.push_back(std::move(word)); });
    for (std::size_t at = 0; at < stream.size(); at += step) {
      EXPECT_TRUE(reader.take(std::string_view(stream).substr(at, step)));
    }
    ASSERT_EQ(words.size(), 2U);
    EXPECT_EQ(words[0].kind, "place");
    EXPECT_EQ(words[0].number, 7);
    EXPECT_EQ(words[1].text.size(), 5000U);
  }
}

TEST(OwnerWords, NonsenseIsRefused) {
  WordReader reader([](const OwnerWord&) { FAIL(); });
  EXPECT_FALSE(reader.take("no words at all, only text that is long enough"));
}

TEST(OwnerWords, LongerThanAnyAreRefusedBeforeTheyAreThere) {
  WordReader reader([](const OwnerWord&) { FAIL(); });
  EXPECT_FALSE(reader.take(std::string(8, '\xFF')));
}

}  // namespace
}  // namespace sterna::launcher
